// sweep.mjs - each call of a program that can fail does so once, one after the
// other.
//
//     node sweep.mjs [--case=NAME] [--kind=KIND] [--at=N] [--most=N] [--seed=N]
//                    [--jobs=N] LIBRARY SUBJECT TRACE EVENTSPACE MAPS SCRATCH
//
// A case is a command and the process of it in which calls fail. It is run
// once to count them, and then once for each. What comes must be the right
// result, or an error that says something; no crash, no hang, no half of a file,
// and nothing kept that was not kept without the fault. `--most` takes so many calls of each
// case and kind, chosen by the seed; without it all are taken. Prints a line of
// JSON for each case and kind, and at the end for each fault that was not borne.
import {execFileSync, spawn, spawnSync} from 'child_process';
import fs from 'fs';
import path from 'path';

const options = {seed: '1', jobs: '8'};
const words = [];
for (const word of process.argv.slice(2)) {
    const option = /^--(\w+)=(.*)$/.exec(word);
    if (option)
        options[option[1]] = option[2];
    else
        words.push(word);
}
const [library, subject, traced, eventspace, maps, scratch] = words;
// What eventspace becomes for some commands: of these, its own calls fail.
const whole = path.join(path.dirname(eventspace), '../libexec/eventspace-whole');
const ofWhole = new Set(['report', 'export', 'import', 'pack', 'unpack', 'serve',
                         'profile', 'experiment']);
const programOf = (args) => ofWhole.has(args[0]) ||
    (args[0] === 'map' && args[1] === 'draw') ? whole : eventspace;
const kinds = ['memory', 'descriptor', 'space', 'write', 'send', 'receive',
               'process'];
const HANG_MS = 60000; // a busy machine; what hangs does so for ever

// --- cases ---

const processes3 = ['', 'h0', 'h1', 'h2'];
const run = (map) => (out) =>
    [eventspace, 'run', path.join(maps, map), '--output', out, '--', subject];
const look = (...args) => (out) => [programOf(args), ...args.map(
    (a) => a.replace('RUN', path.join(scratch, 'run')).replace('OUT', out)
        .replace('TRACE', path.join(scratch, 'trace', 'trace.otf2'))
        .replace('IMPORTED', path.join(scratch, 'imported'))
        .replace('CONTRACT', path.join(scratch, 'contract'))
        .replace('RANKS', path.join(scratch, 'ranks')))];
const copied = (...args) => (out) => {
    fs.cpSync(path.join(scratch, 'run'), out, {recursive: true});
    return [programOf(args), ...args.map((a) => a.replace('COPY', out))];
};

const cases = [
    {name: 'one', process: 'h0', command: run('one.dot')},
    ...processes3.map((process) => (
        {name: `three-${process || 'launcher'}`, process,
         command: run('three.dot')})),
    ...['', 'h0', 'h1'].map((process) => (
        {name: `restart-${process || 'launcher'}`, process, dies: true,
         command: run('restart.dot')})),
    {name: 'info', same: true, command: look('info', 'RUN')},
    {name: 'view', same: true, command: look('view', 'RUN', 'all')},
    {name: 'memory', same: true, command: look(
        'view', 'RUN', 'all', '--memory=64M')},
    {name: 'sql', same: true, command: look('sql', 'RUN',
        'select count(*) from event where thread in (0, 1) or start_ns > 0; ' +
        'select * from region r join collector c using (process); ' +
        "select x'00', 'a', :p, hex(zeroblob(70000)) like '%1%'",
        '--param=p=1')},
    {name: 'script', same: true,
     command: look('view', 'RUN', path.join(maps, 'regions.sql'))},
    {name: 'clock', same: true, command: look('clock', 'RUN')},
    {name: 'diff', same: true, command: look('diff', 'RUN', 'RUN')},
    {name: 'advise', same: true, command: look('advise', 'RUN')},
    {name: 'advise-messages', same: true, command: look('advise', 'IMPORTED')},
    {name: 'whatif', same: true, command: look('whatif', 'RUN',
        '--thread=0:compute=0.5')},
    {name: 'signature', same: true, command: look('signature', 'RUN',
        '--interval=1ms', '--detail')},
    {name: 'contract-make', same: true, command: look('contract', 'make', 'RUN',
        '--interval=1ms', '--output=OUT')},
    {name: 'contract-check', same: true, command: look('contract', 'check',
        'CONTRACT', 'RUN', '--detail')},
    {name: 'draw', same: true, command: look(
        'map', 'draw', 'RUN', '--by=waiting')},
    {name: 'report', same: true,
     command: look('report', 'RUN', '--output=OUT')},
    ...['chrome', 'perfetto', 'otf2', 'csv'].map((format) => (
        {name: `export-${format}`, same: true, command: look(
            'export', 'RUN', `--format=${format}`, '--output=OUT')})),
    {name: 'import', same: true, command: look(
        'import', 'TRACE', '--output=OUT')},
    {name: 'messages', same: true, command: look(
        'sql', 'IMPORTED', 'select * from message')},
    {name: 'export-messages', same: true, command: look(
        'export', 'IMPORTED', '--format=otf2', '--output=OUT')},
    {name: 'archive', command: copied('archive', 'COPY')},
    ...['', 'scope', 'scope.h1'].map((process) => (
        {name: `scope-${process || 'launcher'}`, process,
         command: look('scope', 'RUN', '--output=OUT')})),
    {name: 'check', same: true, command: look(
        'map', 'check', path.join(maps, 'three.dot'))},
];
const casesOfRanks = [
    {name: 'ranks-info', same: true, command: look('info', 'RANKS')},
    {name: 'ranks-view', same: true, command: look('view', 'RANKS', 'all')},
    {name: 'ranks-sql', same: true, command: look('sql', 'RANKS',
        'select * from message; select count(*) from event')},
    {name: 'ranks-report', same: true,
     command: look('report', 'RANKS', '--output=OUT')},
];

// --- one run ---

let places = 0;
function place() {
    const out = path.join(scratch, `out${places++}`);
    fs.rmSync(out, {recursive: true, force: true});
    return out;
}

// Of a file, or of all files of a directory, but for what is random in it.
function contents(name) {
    if (!fs.existsSync(name))
        return '';
    if (name.endsWith('.otf2')) // an id of its own
        return String(fs.statSync(name).size);
    if (!fs.statSync(name).isDirectory())
        return fs.readFileSync(name, 'latin1').replaceAll(/out\d+/g, 'out')
            .replaceAll(/nonce[-="]+[0-9a-f]+/g, 'nonce')
            .replaceAll(/"trust":\{[^}]*\}/g, 'trust');
    return fs.readdirSync(name).sort().map(
        (one) => one + ':' + contents(path.join(name, one))).join('\n');
}

const groups = new Set();
process.on('exit', () => {
    for (const pid of groups)
        try { process.kill(-pid, 'SIGKILL'); } catch { /* it has ended */ }
});
for (const signal of ['SIGINT', 'SIGTERM'])
    process.on(signal, () => process.exit(1));

function execute(c, kind, at) {
    const out = place(), log = out + '.log';
    fs.rmSync(log, {force: true});
    const [program, ...args] = c.command(out);
    const env = {...process.env, LD_PRELOAD: library, FAULT_KIND: kind,
                 FAULT_AT: String(at), FAULT_PROCESS: c.process ?? '',
                 FAULT_LOG: log, LC_ALL: 'C', TMPDIR: scratch};
    return new Promise((resolve) => {
        const child = spawn(program, args, {
            env, detached: true, stdio: ['ignore', 'pipe', 'pipe']});
        const said = ['', '']; // what comes first of the two is chance
        let hung = false;
        groups.add(child.pid);
        const timer = setTimeout(() => {
            hung = true;
            try { process.kill(-child.pid, 'SIGKILL'); } catch { /* ended */ }
        }, HANG_MS);
        [child.stdout, child.stderr].forEach((stream, i) =>
            stream.on('data', (data) => { said[i] += data; }));
        child.on('close', (code, signal) => {
            clearTimeout(timer);
            groups.delete(child.pid);
            const lines = fs.existsSync(log)
                ? fs.readFileSync(log, 'utf8').trim().split('\n') : [];
            const made = c.same ? contents(out) : '';
            fs.rmSync(log, {force: true});
            fs.rmSync(out, {recursive: true, force: true});
            const left = fs.readdirSync(scratch).filter(
                (name) => name.startsWith(path.basename(out) + '.'));
            for (const name of left)
                fs.rmSync(path.join(scratch, name), {recursive: true});
            resolve({code, signal, hung, text: said.join(''), lines, left,
                     made});
        });
    });
}

// --- what came ---

const program = (c) => c.name.startsWith('one') ||
    (c.process && c.process !== '')
    ? c.name.startsWith('scope') ? eventspace : subject
    : [...ofWhole].some((name) => c.name.includes(name)) ? whole : eventspace;

function where(c, address) {
    try {
        return execFileSync('addr2line', ['-f', '-s', '-e', program(c),
            '0x' + (parseInt(address, 16) - 1).toString(16)], {
                encoding: 'utf8'}).trim().split('\n').slice(0, 2).join(' ');
    } catch {
        return address;
    }
}

const failed = (r) => r.lines.filter((l) => l.startsWith('failed '));
const leaks = (r) => r.lines.filter((l) => l.startsWith('leak '));

// What an error must speak of, whatever else it says.
const subjects = {
    // Until the handshake is over all that can be done is to hang up, as on one
    // who does not know the key.
    memory: /memory|cannot join process/i,
    descriptor: /Too many open files|memory/i,
    space: /No space|memory/i,
    write: /No space|i(nput)?\/o(utput)?|memory|died|closed/i,
    send: /died|closed|reset|unreachable|in use|left|key/i,
    receive: /died|closed|reset|i(nput)?\/o(utput)?|left|key/i,
    process: /Resource temporarily unavailable|cannot start/i,
};

// An error that says nothing, or the wrong thing.
function wordless(kind, text) {
    const errors = text.split('\n').filter((l) => l.trim());
    if (!errors.length)
        return 'it failed without a word';
    if (/Success|\(null\)|no error|unknown error|WRONG/.test(text))
        return 'what it says is wrong';
    if (/error:\s*$|: $/m.test(text))
        return 'its error has no text';
    if (!subjects[kind].test(text))
        return 'its error does not say what failed';
    return null;
}

function verdict(c, kind, before, r) {
    const kept = new Set(leaks(before));
    const crash = /signal (4|6|7|8|11)\b|SIGSEGV|SIGABRT|SIGBUS|Segmentation/;

    if (r.hung)
        return 'it hangs';
    // One dies in any case: then it must be said why nobody goes on.
    const died = c.dies && r.code === 128 + 9 && /cannot be started again: ./.test(r.text);
    if (r.signal || (r.code > 128 && !died) || crash.test(r.text))
        return `it crashed: ${r.signal ?? r.code}`;
    if (/WRONG/.test(r.text))
        return 'a wrong result';
    if (r.left.length)
        return `it leaves ${r.left.join(', ')} behind`;
    if (r.code !== 0 && wordless(kind, r.text))
        return wordless(kind, r.text);
    const more = leaks(r).filter((l) => !kept.has(l));
    if (more.length)
        return 'it keeps ' + [...new Set(more)].map((l) => {
            const [, what, address] = l.split(' ');
            return `${what} of ${where(c, address)}`;
        }).join(', ');
    if (r.code !== 0 && r.made && r.made !== before.made)
        return 'it leaves half of a file';
    // What is left out of a result must be said.
    const steady = (text) => text.replace(/^(collectors|observing):.*\n/m, '')
        .replaceAll(/out\d+/g, 'out'); // measured anew each time
    if (c.same && r.code === 0 &&
        (steady(r.text) !== steady(before.text) || r.made !== before.made) &&
        !/cannot|memory|Too many open|No space|Input\/output/.test(r.text) &&
        !/could not be drawn: /.test(r.made))
        return 'another result, without a word';
    return null;
}

// --- the sweep ---

let state = Number(options.seed) >>> 0;
function random(below) { // a linear congruence: any seed, the same everywhere
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 4294967296 * below);
}

function chosen(count) {
    const all = Array.from({length: count}, (_, i) => i + 1);
    const most = options.most ? Number(options.most) : count;
    if (options.at)
        return [Number(options.at)];
    for (let i = all.length - 1; i > 0; i--) {
        const k = random(i + 1);
        [all[i], all[k]] = [all[k], all[i]];
    }
    return all.slice(0, most);
}

// What is to be run of a case: its calls, and those of them that shall fail.
async function plan(c) {
    const before = await execute(c, '', 0);
    if (before.code !== 0 || before.hung)
        throw new Error(`${c.name} fails without a fault: ${before.text}`);
    return kinds.filter((k) => !options.kind ||
                               options.kind.split(',').includes(k))
        .map((kind) => {
            const calls = Math.max(0, ...before.lines
                .filter((l) => l.startsWith(`calls ${kind} `))
                .map((l) => Number(l.split(' ')[2])));
            const sum = {case: c.name, kind, calls, run: 0, failed: 0,
                         borne: 0, wrong: 0};
            return {c, kind, before, sum, todo: chosen(calls)};
        });
}

const notBorne = [];

async function fail(p, at) {
    const r = await execute(p.c, p.kind, at);
    const wrong = verdict(p.c, p.kind, p.before, r);

    p.sum.run++;
    p.sum.failed += failed(r).length > 0;
    p.sum.borne += r.code === 0;
    p.sum.wrong += wrong !== null;
    if (!options.show && !wrong)
        return;
    const [, name, address] = (failed(r)[0] ?? '').split(' ');
    const line = JSON.stringify({
        case: p.c.name, kind: p.kind, at, wrong, call: name,
        from: address && where(p.c, address), code: r.code,
        text: r.text.slice(-600), before: p.before.text.slice(-600)});
    if (wrong)
        notBorne.push(line);
    else
        console.log(line);
}

// So many at a time of all cases: most of the time of some is waiting.
async function all(todo, run) {
    const next = async () => {
        for (let task = todo.shift(); task; task = todo.shift())
            await run(task);
    };
    await Promise.all(Array.from({length: Number(options.jobs)}, next));
}

fs.mkdirSync(scratch, {recursive: true});
fs.rmSync(path.join(scratch, 'run'), {recursive: true, force: true});
const first = run('three.dot')(path.join(scratch, 'run'));
execFileSync(first[0], first.slice(1), {stdio: 'inherit'});
for (const [program, ...args] of [
    [traced, path.join(scratch, 'trace')],
    look('import', 'TRACE', '--output=IMPORTED')(''),
    look('contract', 'make', 'RUN', '--interval=1ms',
         '--output=CONTRACT')('')]) {
    fs.rmSync(args.at(-1).replace('--output=', ''),
              {recursive: true, force: true});
    execFileSync(program, args, {stdio: ['ignore', 'ignore', 'inherit']});
}
// A program of MPI, if there is Open MPI.
function recordRanks() {
    const program = path.join(scratch, 'order'), logs = program + '.logs';
    const env = {...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1',
                 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1'};
    if (spawnSync('mpicc.openmpi', ['-std=gnu11', '-g', '-pthread', '-o',
        program, path.join(maps, '..', 'mpi', 'order.c')]).error)
        return false;
    fs.mkdirSync(logs, {recursive: true});
    spawnSync('mpirun.openmpi', ['--oversubscribe', '-n', '3', eventspace,
        'mpi', '--replace', '--output', path.join(scratch, 'ranks'), '--',
        program, 'freed', logs], {env});
    return true;
}
if (recordRanks())
    cases.push(...casesOfRanks);
const plans = [];
await all(cases.filter((c) => !options.case ||
                              options.case.split(',').includes(c.name)),
          async (c) => plans.push(...await plan(c)));
await all(plans.flatMap((p) => p.todo.map((at) => ({p, at}))),
          ({p, at}) => fail(p, at));
for (const p of plans)
    console.log(JSON.stringify(p.sum));
for (const line of notBorne)
    console.log(line);
process.exitCode = plans.some((p) => p.sum.wrong) ? 1 : 0;
