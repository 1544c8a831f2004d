/* browser.mjs - a real browser for tests.
 *
 * Chromium is driven by chromedriver over HTTP (W3C WebDriver); no package is
 * needed. Nothing sleeps for a fixed time: conditions are polled until a
 * deadline.
 *
 * With EVENTSPACE_PAGES=made no browser is started, and a check ends where it would
 * open its report, which has to be there: for programs with sanitizers, which have
 * done all that they do for it by then. */
import {spawn} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import assert from 'node:assert/strict';

const DEADLINE_MS = 120000;

const madeOnly = process.env.EVENTSPACE_PAGES === 'made';
class Made extends Error {}
const noBrowser = new Proxy({close: async () => {}}, {get: (own, name) =>
  name === 'then' ? undefined : own[name] ?? (async () => { throw new Made(name); })});

export async function until(what, condition) {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await pause(20);
  }
}

/* Runs a check and tells how it went. False: it has failed. */
export async function holds(name, call) {
  const start = Date.now();
  try {
    await call();
    console.log(`ok      ${name} (${Date.now() - start} ms)`);
    return true;
  } catch (error) {
    if (error instanceof Made) {
      console.log(`made    ${name} (${Date.now() - start} ms)`);
      return true;
    }
    console.log(`FAILED  ${name}\n${error.stack}`);
    return false;
  }
}

/* chromedriver chooses a free port and prints it. It chooses one of IPv4 and
 * takes the same of IPv6, which may be somebody else's: then it ends, and is
 * started again. */
export async function startDriver() {
  if (madeOnly)
    return {driver: spawn('cat', {detached: true}), address: ''};
  for (;;) {
    const driver = spawn('chromedriver', ['--port=0'],
      {stdio: ['ignore', 'pipe', 'pipe'], detached: true});
    let said = '', ended = false;
    driver.on('error', (error) => { said = String(error); ended = true; });
    driver.on('close', () => { ended = true; }); /* all that it said is here */
    driver.stdout.on('data', (text) => { said += text; });
    driver.stderr.on('data', (text) => { said += text; });
    const port = await until('chromedriver tells its port or ends', () =>
      said.match(/successfully on port (\d+)/)?.[1] ?? (ended ? 'none' : null));
    if (port !== 'none') return {driver, address: `http://127.0.0.1:${port}`};
    assert.match(said, /port not available|Address already in use/,
      `chromedriver has ended: ${said}`);
  }
}

async function ask(address, method, path, body) {
  const answer = await fetch(address + path, {
    method,
    headers: {'content-type': 'application/json'},
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
  const {value} = await answer.json();
  if (!answer.ok) throw new Error(`${path}: ${value.message}`);
  return value;
}

/* `folder` is for its profile, and what it saves goes there; with `pictures`,
 * screenshots go to that one. `strategy` is WebDriver's pageLoadStrategy: 'none'
 * for a page that loads others, again and again.
 *
 * chromedriver speaks to the browser over a pipe: otherwise it connects to
 * "localhost", a name that not every machine knows. */
export async function openBrowser(address, {folder, pictures, width, height, more = [],
                                             strategy = 'normal'}) {
  if (madeOnly)
    return noBrowser;
  const args = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic',
    '--no-first-run', '--disable-background-networking', '--disable-component-update',
    '--disable-sync', '--remote-debugging-pipe',
    '--force-device-scale-factor=1', `--window-size=${width},${height}`,
    `--user-data-dir=${mkdtempSync(join(folder, 'profile-'))}`, ...more];
  const {sessionId} = await ask(address, 'POST', '/session', {
    capabilities: {alwaysMatch: {
      pageLoadStrategy: strategy,
      'goog:chromeOptions': {args, prefs: {'download.default_directory': folder,
        'profile.default_content_setting_values.automatic_downloads': 1}},
      'goog:loggingPrefs': {browser: 'ALL'},
      timeouts: {script: DEADLINE_MS},
    }},
  });
  const at = (method, path, body) =>
    ask(address, method, `/session/${sessionId}${path}`, body);
  return {
    go: (url) => at('POST', '/url', {url}),
    run: (script, ...args) => at('POST', '/execute/sync',
      {script: script.replace(/^/, 'const report = window.eventspaceReport; '), args}),
    act: (...actions) => at('POST', '/actions', {actions}),
    find: async (css) => Object.values(
      await at('POST', '/element', {using: 'css selector', value: css}))[0],
    type: (element, text) => at('POST', `/element/${element}/value`, {text}),
    click: (element) => at('POST', `/element/${element}/click`, {}),
    clickOn: async (css) => {
      const found = await at('POST', '/element', {using: 'css selector', value: css});
      return at('POST', `/element/${Object.values(found)[0]}/click`, {});
    },
    press: (...keys) => at('POST', '/actions', {actions: [{type: 'key', id: 'keys',
      actions: keys.flatMap((value) => [{type: 'keyDown', value}, {type: 'keyUp', value}])}]}),
    log: () => at('POST', '/se/log', {type: 'browser'}),
    picture: async (name) => {
      if (pictures)
        writeFileSync(join(pictures, name), await at('GET', '/screenshot'), 'base64');
    },
    close: () => at('DELETE', ''),
  };
}

/* Moves to a point of the canvas, and there does what `then` says. */
export async function pointer(browser, x, y, ...then) {
  const canvas = await browser.find('#es-bars');
  const box = await browser.run(`const c = document.getElementById('es-bars');
    c.scrollIntoView({block: 'center'});
    const b = c.getBoundingClientRect(); return [b.left, b.top];`);
  assert.ok(canvas);
  const move = {type: 'pointerMove', duration: 0,
    x: Math.round(box[0] + x), y: Math.round(box[1] + y)};
  await browser.act({type: 'pointer', id: 'mouse', parameters: {pointerType: 'mouse'},
    actions: [move, ...then.map((step) => step.type === 'pointerMove' ?
      {duration: 0, ...step, x: Math.round(box[0] + step.x), y: Math.round(box[1] + step.y)} :
      step)]});
}
export const DOWN = {type: 'pointerDown', button: 0}, UP = {type: 'pointerUp', button: 0};

export async function wheel(browser, x, y, deltaY) {
  const box = await browser.run(`const b = document.getElementById('es-bars')
    .getBoundingClientRect(); return [b.left, b.top];`);
  await browser.act({type: 'wheel', id: 'wheel', actions: [{type: 'scroll', duration: 0,
    x: Math.round(box[0] + x), y: Math.round(box[1] + y), deltaX: 0, deltaY}]});
}

/* Opens a report, and waits until it is there. */
export async function openReport(browser, file) {
  if (madeOnly) {
    assert.match(readFileSync(file, 'utf8'), /<\/html>\s*$/);
    throw new Made(file);
  }
  await browser.go('file://' + file);
  await until('the report is ready',
    () => browser.run('return !!(report && report.ready);'));
}

/* Looks for what keeps people out of a page, in both colours; `axe` is where axe-core is,
 * if anywhere. */
export async function axeFindsNothing(browser, axe) {
  if (!axe || !existsSync(axe)) return console.log('SKIPPED  axe-core, which is not there');
  for (const colours of ['dark', 'light']) {
    await browser.run(`eventspaceScheme.choose('${colours}');`);
    const found = await browser.run(readFileSync(axe, 'utf8') + `;
      return axe.run(document, {resultTypes: ['violations']}).then(({violations}) =>
        violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.target + ' ' + n.failureSummary).join('; ')));`);
    assert.deepEqual(found, [], colours);
  }
}
