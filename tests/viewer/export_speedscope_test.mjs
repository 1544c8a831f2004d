// export_speedscope_test.mjs - speedscope, in Chromium, opens what `eventspace
// export --format=chrome` writes.
//
//     export_speedscope_test.mjs BIN SPEEDSCOPE
//
// SPEEDSCOPE is a folder into which `npm install speedscope` was run, which
// `./bootstrap test` does. Without it nothing is tested, and this says so.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {extname, join, resolve} from 'node:path';

const [bin, speedscope] = process.argv.slice(2).map((path) => resolve(path));
const pages = join(speedscope, 'node_modules/speedscope/dist/release');
if (!existsSync(join(pages, 'index.html'))) {
  console.log(`SKIPPED  there is no speedscope: npm install --prefix ${speedscope} speedscope`);
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), 'eventspace-speedscope-'));
const DEADLINE_MS = 120000;
let driver;
process.on('exit', () => {
  try {
    if (driver) process.kill(-driver.pid, 'SIGKILL');
  } catch { /* it has ended */ }
  rmSync(folder, {recursive: true, force: true, maxRetries: 10, retryDelay: 100});
});

function output(program, words, input) {
  const done = spawnSync(program, words, {cwd: folder, encoding: 'utf8', input});
  assert.equal(done.status, 0, `${program} ${words.join(' ')}: ${done.stderr}`);
  return done.stdout;
}

async function until(what, condition) {
  for (const from = Date.now(); Date.now() - from < DEADLINE_MS;) {
    const found = await condition();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`not seen: ${what}`);
}

/* --- a run --- */

const eventspace = join(bin, 'eventspace'), gsum = join(bin, 'gsum');
const plain = output(eventspace, ['map', 'generate', '--application=-', '--processes=2'],
  output(gsum, ['mapping', '--threads=4']));
output(eventspace, ['map', 'instrument', '-', '--output=map.dot'], plain);
output(eventspace, ['run', 'map.dot', '--output=RUN', '--', gsum, 'run', '--rounds=20']);
output(eventspace, ['export', 'RUN', '--format=chrome', '--output=run.json']);

/* --- a server, of the page and of the export --- */

const kinds = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css',
  '.json': 'application/json', '.wasm': 'application/wasm'};
const server = createServer((request, answer) => {
  const name = new URL(request.url, 'http://here').pathname.slice(1);
  const file = name === 'run.json' ? join(folder, name) : join(pages, name);
  if (name.includes('..') || !existsSync(file)) {
    answer.writeHead(404).end();
    return;
  }
  answer.writeHead(200, {'content-type': kinds[extname(name)] ?? 'application/octet-stream'});
  answer.end(readFileSync(file));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const here = `http://127.0.0.1:${server.address().port}`;

/* --- the browser, by chromedriver (W3C WebDriver), as in report_test.mjs --- */

async function startDriver() {
  for (;;) {
    driver = spawn('chromedriver', ['--port=0'],
      {stdio: ['ignore', 'pipe', 'pipe'], detached: true});
    let said = '', ended = false;
    driver.on('error', (error) => { said = String(error); ended = true; });
    driver.on('close', () => { ended = true; });
    driver.stdout.on('data', (text) => { said += text; });
    driver.stderr.on('data', (text) => { said += text; });
    const port = await until('the port of chromedriver', () =>
      said.match(/successfully on port (\d+)/)?.[1] ?? (ended ? 'none' : null));
    if (port !== 'none') return `http://127.0.0.1:${port}`;
    assert.match(said, /port not available|Address already in use/, said);
  }
}

const address = await startDriver();
async function ask(method, path, body) {
  const answer = await fetch(address + path, {
    method, headers: {'content-type': 'application/json'},
    body: body && JSON.stringify(body), signal: AbortSignal.timeout(DEADLINE_MS)});
  const {value} = await answer.json();
  assert.ok(answer.ok, `${path}: ${value?.message}`);
  return value;
}
const {sessionId} = await ask('POST', '/session', {capabilities: {alwaysMatch: {
  'goog:chromeOptions': {args: ['--headless=new', '--no-sandbox', '--disable-quic',
    '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
    '--no-first-run', '--disable-background-networking', '--disable-component-update',
    '--disable-sync', '--remote-debugging-pipe', '--window-size=1200,800',
    `--user-data-dir=${mkdtempSync(join(folder, 'profile-'))}`]},
  'goog:loggingPrefs': {browser: 'ALL'}}}});
const at = (method, path, body) => ask(method, `/session/${sessionId}${path}`, body);
const run = (script) => at('POST', '/execute/sync', {script, args: []});

try {
  await at('POST', '/url', {url: `${here}/index.html#profileURL=` +
    encodeURIComponent(`${here}/run.json`)});
  /* The title of an open profile is its name and its place among the others:
   * there is one for each track of the export. */
  const title = await until('an open profile', async () => {
    const text = await run('return document.title + "\\n" + document.body.innerText');
    assert.doesNotMatch(text, /failed to load|unrecognized format|something went wrong/i, text);
    return /run\.json|\(\d+\/\d+\)/.test(text) && /Time Order/.test(text) ? text : null;
  });
  const tracks = JSON.parse(readFileSync(join(folder, 'run.json'))).traceEvents
    .filter((e) => e.ph === 'X').map((e) => `${e.pid} ${e.tid}`);
  console.log(`open: ${title.split('\n')[0]}; tracks: ${new Set(tracks).size}`);
  const errors = (await at('POST', '/se/log', {type: 'browser'}))
    .filter((entry) => entry.level === 'SEVERE' && !/favicon|fonts?\b/.test(entry.message));
  assert.deepEqual(errors, []);
  const shown = title.match(/\((\d+)\/(\d+)\)/);
  assert.ok(shown, title);
  assert.equal(+shown[2], new Set(tracks).size);
  console.log('ok');
} finally {
  await at('DELETE', '');
}
process.exit(0); // chromedriver and the server would keep it
