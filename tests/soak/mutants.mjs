// mutants.mjs - do the tests notice? Faults of one token at random places, one
// at a time, and whether the suites of that layer see them.
//
//     node mutants.mjs [--minutes=N] [--count=60] [--seed=1] [--layer=NAME]
//         SOURCE FOLDER FILE
//
// A clone of SOURCE (what is committed) is built below FOLDER, and again with
// each fault; then the suites of the fault's layer run and two programs from end
// to end, until one fails. What takes three times as long as without a fault
// hangs, and is noticed. FILE gets a line of JSON for each mutant; one that
// stands there is not tried again, so that the next call goes on where this one
// ended, after N minutes (60) at most.
//
// Faults are the same for the same seed and sources: a comparison, a sign, a
// logical operator, a returned error. Those that do not compile count as none.
// Survivors of which mutants.json says why they change nothing are left out of
// the sum. Exits with 1 when less than 85 % are noticed, with 3 when some of the
// COUNT are left.
import {execFileSync, spawn} from 'child_process';
import fs from 'fs';
import path from 'path';

const options = {minutes: '60', count: '60', seed: '1'};
const words = [];
for (const word of process.argv.slice(2)) {
    const option = /^--(\w+)=(.*)$/.exec(word);
    if (option)
        options[option[1]] = option[2];
    else
        words.push(word);
}
const MINUTES = Number(options.minutes), COUNT = Number(options.count);
if (words.length !== 3 || !(MINUTES > 0) || !(COUNT > 0)) {
    console.error('usage: node mutants.mjs [--minutes=N] [--count=N] ' +
                  '[--seed=N] [--layer=NAME] SOURCE FOLDER FILE');
    process.exit(2);
}
const [origin, folder, file] = words.map(word => path.resolve(word));
const source = path.join(folder, 'source');
const build = path.join(source, 'build/release');
const LAYERS = ['pastset', 'paths', 'eventspace', 'scopes', 'predict',
                'measure', 'contracts', 'viewer']
    .filter(layer => !options.layer || options.layer === layer);
const END_TO_END = 'examples/hello|viewer/window';
// Suites of a layer that stand in another folder.
const ELSEWHERE = {paths: 'faults/stopped_test|faults/scarce_test'};
const SLOW = 3, SPARE_S = 20, LEAST = 0.85;

// Numbers that are the same every time (mulberry32).
function random(seed) {
    let state = seed | 0;
    return () => {
        state = (state + 0x6d2b79f5) | 0;
        let t = Math.imul(state ^ (state >>> 15), 1 | state);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

// --- running ---

function run(command, seconds) {
    return new Promise(resolve => {
        const child = spawn(command[0], command.slice(1), {
            cwd: source, detached: true, stdio: ['ignore', 'pipe', 'pipe']});
        const from = Date.now();
        let text = '', late = false;
        const take = bytes => { text = (text + bytes).slice(-100000); };
        child.stdout.on('data', take);
        child.stderr.on('data', take);
        const timer = setTimeout(() => {
            late = true;
            try { process.kill(-child.pid, 'SIGKILL'); } catch {}
        }, seconds * 1000);
        child.on('close', code => {
            clearTimeout(timer);
            // Criterion's processes are in groups of their own.
            if (late)
                spawn('pkill', ['-KILL', '-f', `${build}/`]);
            resolve({code, late, text, seconds: (Date.now() - from) / 1000});
        });
    });
}

const compile = () => run(['cmake', '--build', build], 1800);
const ctest = (which, seconds) => run(
    ['ctest', '--test-dir', build, '-j2', '--stop-on-failure', '--timeout',
     '120', '-R', which, '-E', 'fuzz/'], seconds);

// The suites of a layer; `by` names what failed. What fails and then does not,
// alone, was spoilt by a busy machine, and all are run once more.
async function suites(layer, seconds) {
    const which = [`${layer}/`, END_TO_END, ELSEWHERE[layer]]
        .filter(Boolean).join('|');
    let result;
    for (let turn = 0; turn < 2; turn++) {
        result = await ctest(`^(${which})`, seconds);
        if (result.late || result.code === 0)
            return result;
        const by = /Test +#\d+: (\S+) \.*\**(Failed|Timeout|Exception|SEGFAULT|Subprocess aborted|Not Run)/
            .exec(result.text);
        result.by = by ? by[1] : 'a suite';
        if (!by || (await ctest(`^${by[1]}$`, seconds)).code !== 0)
            return result;
    }
    return result;
}

// --- faults ---

// Comments, texts and preprocessor lines as blanks: places stay the same.
function code(text) {
    return text.replace(
        /\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:.*\\\n)*.*$/gm,
        part => part.replace(/[^\n]/g, ' '));
}

const kinds = [
    [/ (<=) /g, '<'], [/ (<) /g, '<='], [/ (>=) /g, '>'], [/ (>) /g, '>='],
    [/ (==) /g, '!='], [/ (!=) /g, '=='], [/ (&&)[ \n]/g, '||'],
    [/ (\|\|)[ \n]/g, '&&'], [/ (\+) /g, '-'], [/[\w)] (-) /g, '+'],
    [/ (\+=) /g, '-='], [/ (-=) /g, '+='],
    [/\b(return err);/g, 'return 0'], [/\b(return PASTSET_E\w+);/g, 'return 0'],
    [/if \((err)\)/g, '0'], [/if \((!err)\)/g, '1'],
];

function places(text) {
    const plain = code(text);
    const list = [];
    for (const [pattern, to] of kinds)
        for (const match of plain.matchAll(pattern)) {
            const at = match.index + match[0].indexOf(match[1]);
            list.push({at, from: match[1], to});
        }
    return list.sort((a, b) => a.at - b.at);
}

function all_places() {
    const list = [];
    for (const layer of LAYERS) {
        const files = execFileSync(
            'git', ['ls-files', `${layer}/*.c`], {cwd: source})
            .toString().trim().split('\n');
        for (const name of files) {
            const text = fs.readFileSync(path.join(source, name), 'utf8');
            for (const place of places(text))
                list.push({layer, name, text, ...place});
        }
    }
    return list;
}

const line_of = p => p.text.slice(0, p.at).split('\n').length;
const words_of = p => p.text.split('\n')[line_of(p) - 1].trim();

// The function that it stands in.
function function_of(place) {
    const heads = place.text.slice(0, place.at).split('\n')
        .filter(line => /^\w[^;]*\w\(/.test(line));
    return /(\w+)\(/.exec(heads.pop() ?? '')?.[1] ?? '';
}

// --- one mutant ---

async function attempt(place, usual) {
    const name = path.join(source, place.name);
    fs.writeFileSync(name, place.text.slice(0, place.at) + place.to +
                           place.text.slice(place.at + place.from.length));
    try {
        const built = await compile();
        if (built.code !== 0)
            return {outcome: 'does not compile'};
        const tested = await suites(place.layer,
                                    SLOW * usual[place.layer] + SPARE_S);
        if (tested.late)
            return {outcome: 'noticed', by: 'it hangs'};
        if (tested.code === 0)
            return {outcome: 'survived'};
        return {outcome: 'noticed', by: tested.by};
    } finally {
        fs.writeFileSync(name, place.text);
    }
}

// --- all of it ---

fs.mkdirSync(folder, {recursive: true});
const head = execFileSync('git', ['rev-parse', 'HEAD'], {cwd: origin})
    .toString().trim();
if (!fs.existsSync(source))
    execFileSync('git', ['clone', '-q', origin, source]);
execFileSync('git', ['fetch', '-q', 'origin'], {cwd: source});
execFileSync('git', ['checkout', '-q', '-f', head], {cwd: source});
execFileSync('cmake', ['--preset', 'release', '-DEVENTSPACE_TESTS=ON'],
             {cwd: source, stdio: 'ignore'});
const end = Date.now() + MINUTES * 60000;
const done = fs.existsSync(file)
    ? fs.readFileSync(file, 'utf8').trim().split('\n').filter(Boolean)
        .map(line => JSON.parse(line))
    : [];
const tell = text => process.stderr.write(`${text}\n`);
const save = line => {
    done.push(line);
    fs.appendFileSync(file, JSON.stringify(line) + '\n');
};

tell('building without a fault');
let result = await compile();
if (result.code !== 0) {
    tell(result.text.slice(-3000));
    process.exit(1);
}
let usual = done.find(line => line.usual_s)?.usual_s;
if (!usual) {
    usual = {};
    for (const layer of LAYERS) {
        result = await suites(layer, 1800);
        if (result.code !== 0) {
            tell(`${layer}: fails without a fault:\n` +
                 result.text.slice(-3000));
            process.exit(1);
        }
        usual[layer] = Math.ceil(result.seconds);
        tell(`${layer}: ${usual[layer]} s without a fault`);
    }
    save({usual_s: usual});
}

const list = all_places();
const next = random(Number(options.seed));
const tried = new Map(done.filter(line => line.index !== undefined)
    .map(line => [line.index, line]));
const reasons = JSON.parse(fs.readFileSync(
    path.join(origin, 'tests/soak/mutants.json'), 'utf8'));
let counted = 0;
for (let index = 0; counted < COUNT; index++) {
    const place = list[Math.floor(next() * list.length)];
    if (!tried.has(index)) {
        if (Date.now() > end)
            break;
        const line = {index, file: place.name, line: line_of(place),
                      function: function_of(place),
                      from: place.from, to: place.to, text: words_of(place),
                      ...await attempt(place, usual)};
        tell(`${line.file}:${line.line}: ${line.from} -> ${line.to}: ` +
             `${line.outcome}${line.by ? ` by ${line.by}` : ''}`);
        save(line);
        tried.set(index, line);
    }
    counted += tried.get(index).outcome !== 'does not compile';
}

const made = [...tried.values()].filter(
    line => line.outcome !== 'does not compile');
const why = line => reasons.find(r => r.file === line.file &&
    r.function === line.function && r.text === line.text && r.from === line.from && r.to === line.to)?.why;
const survivors = made.filter(line => line.outcome === 'survived');
const real = survivors.filter(line => !why(line));
const noticed = made.length - survivors.length;
for (const line of survivors)
    console.log(`${line.file}:${line.line}: ${line.from} -> ${line.to}: ` +
                `${line.text}${why(line) ? `\n    ${why(line)}` : ''}`);
console.log(JSON.stringify({
    name: 'mutants.noticed', value: noticed, unit: 'mutants',
    limit: noticed + real.length, made: made.length,
    without_effect: survivors.length - real.length,
    ratio: +(noticed / (noticed + real.length)).toFixed(3)}));
if (noticed < LEAST * (noticed + real.length))
    process.exit(1);
process.exit(counted < COUNT ? 3 : 0);
