// soak.mjs - the long courses: each stress and fuzz target for ten minutes,
// hundreds of seeds, random kills, every fault.
//
//     node soak.mjs [--minutes=N] [--only=PATTERN] [--list] BUILD FILE
//
// BUILD holds the builds release, clang, asan, tsan and fuzz; FILE gets one line
// of JSON for each course, also when it has failed. A course that stands in FILE
// is not run again, so that the next call goes on where this one ended; it ends
// when the next course would take it beyond N minutes (60). Exits with 1 when a
// course has failed, and with 3 when there are some left.
import {spawn} from 'child_process';
import fs from 'fs';
import os from 'os';
import path from 'path';

const options = {minutes: '60', only: '.'};
const words = [];
for (const word of process.argv.slice(2)) {
    const option = /^--(\w+)(?:=(.*))?$/.exec(word);
    if (option)
        options[option[1]] = option[2] ?? true;
    else
        words.push(word);
}
const MINUTES = Number(options.minutes);
if (words.length !== 2 || !(MINUTES > 0)) {
    console.error('usage: node soak.mjs [--minutes=N] [--only=PATTERN] ' +
                  '[--list] BUILD FILE');
    process.exit(2);
}
const [build, file] = words.map((word) => path.resolve(word));
const source = path.resolve(import.meta.dirname ??
                            path.dirname(new URL(import.meta.url).pathname));
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'soak-'));
process.on('exit', () => fs.rmSync(scratch, {recursive: true, force: true}));
const CORES = os.cpus().length;

// --- running ---

// One command; what it has printed, and how it ended.
function run(command, environment, seconds) {
    return new Promise((resolve) => {
        const child = spawn(command[0], command.slice(1), {
            cwd: scratch, detached: true, stdio: ['ignore', 'pipe', 'pipe'],
            env: {...process.env, ...environment}});
        let text = '';
        const take = (bytes) => { text = (text + bytes).slice(-200000); };
        child.stdout.on('data', take);
        child.stderr.on('data', take);
        const timer = setTimeout(() => {
            text += `\nsoak: it has not ended after ${seconds} s`;
            try { process.kill(-child.pid, 'SIGKILL'); } catch {}
        }, seconds * 1000);
        child.on('error', (error) => resolve({code: -1, text: `${error}`}));
        child.on('close', (code, signal) => {
            clearTimeout(timer);
            resolve({code: code ?? signal, text});
        });
    });
}

const number = (text, pattern) => {
    let sum = 0;
    for (const match of text.matchAll(pattern))
        sum += Number(match[1]);
    return sum;
};

// The same program with one seed after the other, on all processors; `counts`
// are numbers of its output that are added up.
async function seeds({command, environment = {}, count = Infinity, seconds,
                      patience = 300, counts = {}}) {
    const until = Date.now() + seconds * 1000;
    const result = {runs: 0, failed: []};
    let next = 1;
    const work = async () => {
        while (next <= count && Date.now() < until) {
            const seed = next++;
            const {code, text} = await run(command, {
                EVENTSPACE_STRESS_SEED: `${seed}`,
                EVENTSPACE_SCHEDULE: `${seed}`, ...environment}, patience);
            result.runs++;
            for (const [name, pattern] of Object.entries(counts))
                result[name] = (result[name] ?? 0) + number(text, pattern);
            if (code !== 0) {
                result.failed.push(seed);
                fs.writeFileSync(`${file}.${path.basename(command[0])}.` +
                                 `${seed}.log`, text);
            }
        }
    };
    await Promise.all(Array.from({length: CORES}, work));
    if (count < Infinity && result.runs < count)
        result.failed.push(`only ${result.runs} of ${count} seeds in time`);
    return result;
}

async function fuzz(name, seconds) {
    const corpus = path.join(scratch, name);
    fs.cpSync(path.join(source, '../fuzz/corpus', name), corpus,
              {recursive: true});
    const {code, text} = await run(
        [path.join(build, 'fuzz/tests', `fuzz_${name}`),
         `-max_total_time=${seconds}`, '-timeout=20', '-rss_limit_mb=2048',
         '-print_final_stats=1', `-artifact_prefix=${file}.${name}-`, corpus],
        {ASAN_OPTIONS: 'detect_leaks=1'}, seconds + 120);
    const inputs = number(text, /stat::number_of_executed_units: *(\d+)/g);
    if (code !== 0)
        fs.writeFileSync(`${file}.fuzz_${name}.log`, text);
    return {inputs, inputs_per_second: Math.round(inputs / seconds),
            failed: code === 0 ? [] : [code]};
}

// A program that does its course by itself, and prints JSON.
async function whole(command, seconds, environment = {}) {
    const {code, text} = await run(command, environment, seconds);
    const lines = text.split('\n').filter((line) => line.startsWith('{'));
    if (code !== 0)
        fs.writeFileSync(`${file}.${path.basename(command[0])}.log`, text);
    return {lines: lines.length, last: lines.at(-1) ?? '',
            failed: code === 0 ? [] : [code]};
}

// --- courses ---

const test = (preset, name) => path.join(build, preset, 'tests', name);
const rounds = {rounds: /"rounds": (\d+)/g, failed_rounds: /"failed": (\d+)/g};
const TEN = 600;

function courses() {
    const list = [];
    const add = (name, seconds, start) => list.push({name, seconds, start});

    // An hour in all: no sum may be wrong.
    for (const [threads, width] of [[4, 2], [8, 2], [32, 2], [4, 8], [8, 8],
                                    [32, 8]])
        add(`failed_rounds.sizes.${threads}x${width}`, TEN, () => seeds({
            command: [test('release', 'paths_failed_rounds_stress'), 'sizes',
                      `${threads}`, '60', `${width}`],
            seconds: TEN - 60, counts: rounds}));
    for (const mode of ['late', 'started', 'debts'])
        add(`failed_rounds.${mode}`, TEN, () => seeds({
            command: [test('release', 'paths_failed_rounds_stress'), mode, '8',
                      '30', '3'],
            seconds: TEN - 30, counts: rounds}));
    const short = [
        ['paths_ending_rounds_stress', ['100']],
        ['paths_paths_stress', []],
        ['paths_collective_stress', []],
        ['pastset_element_stress', []],
    ];
    for (const [name, words] of short)
        add(`stress.${name}`, TEN, () => seeds({
            command: [test('clang', name), ...words], seconds: TEN,
            environment: {EVENTSPACE_STRESS_ROUNDS: '2000'}}));
    // The suite does less of these.
    for (const [preset, name, words, environment] of [
        ['release', 'paths_collective_stress', [],
         {EVENTSPACE_STRESS_ROUNDS: '10000'}],
        ['release', 'pastset_element_stress', ['2'], {}],
        ['release', 'viewer_map_additions_stress', ['2'], {}],
        ['asan', 'scopes_diff_test', [],
         {CRITERION_JOBS: '1', ASAN_OPTIONS: 'detect_leaks=1'}]])
        add(`whole.${preset}.${name}`, TEN, () => whole(
            [test(preset, name), ...words], TEN, environment));
    // Each by 300 seeds, plain and under the sanitizers.
    for (const preset of ['clang', 'asan', 'tsan']) {
        for (const [name, words] of [
            ['paths_ending_rounds_stress', ['10']],
            ['paths_paths_stress', []],
            ['paths_collective_stress', []],
            ['pastset_element_stress', []],
            ['paths_failed_rounds_stress', ['sizes', '4', '0.2', '3']],
            ['paths_failed_rounds_stress', ['late', '4', '0.2', '3']],
            ['paths_failed_rounds_stress', ['started', '4', '0.2', '3']],
            ['paths_failed_rounds_stress', ['debts', '4', '0.2', '3']]])
            add(`seeds.${preset}.${name}${words[0] ? `.${words[0]}` : ''}`,
                TEN, () => seeds({
                    command: [test(preset, name), ...words], count: 300,
                    seconds: TEN, counts: rounds,
                    environment: {
                        EVENTSPACE_STRESS_ROUNDS: '60',
                        ASAN_OPTIONS: 'detect_leaks=1',
                        TSAN_OPTIONS: 'halt_on_error=1'}}));
    }
    const corpora = fs.readdirSync(path.join(source, '../fuzz/corpus')).sort();
    for (let i = 0; i < corpora.length; i += CORES) {
        const some = corpora.slice(i, i + CORES);
        add(`fuzz.${some.join('.')}`, TEN + 60, async () => {
            const results = await Promise.all(
                some.map((name) => fuzz(name, TEN)));
            return {failed: results.flatMap((r) => r.failed), ...
                Object.fromEntries(some.map((name, k) => [name, results[k]]))};
        });
    }
    for (let i = 1; i <= 3; i++)
        add(`kills.${i}`, 1200, () => whole(
            [test('release', 'random_kills'), '100', `${i}`], 1200));
    add('restarts', 1800, () => whole(
        ['node', path.join(source, '../eventspace/restart_kills.mjs'),
         path.join(build, 'release/bin'), '100', '1'], 1800));
    // Four machines that are this one; 20 kills by each launcher.
    for (const [program, launcher] of [
        ['windtunnel', 'openmpi'], ['windtunnel', 'mpich'],
        ['windtunnel', 'slurm'], ['ring', 'openmpi'], ['ring', 'mpich']])
        add(`jobs.${program}.${launcher}`, 1800, () => whole(
            ['sh', path.join(source, '../jobs/alone.sh'),
             ...(launcher === 'slurm' ? ['--slurm'] : []), 'node',
             path.join(source, `../jobs/${program}_test.mjs`),
             path.join(build, 'release/bin'), launcher], 1800,
            {EVENTSPACE_JOB_KILLS: '20'}));
    add('faults', 3000, () => whole(
        ['node', path.join(source, '../faults/sweep.mjs'), '--jobs=8',
         test('release', 'libfaults_fail.so'), test('release', 'faults_subject'),
         test('release', 'faults_trace'),
         path.join(build, 'release/bin/eventspace'),
         path.join(source, '../faults'), path.join(scratch, 'faults')], 3000));
    add('draw', 900, () => whole(
        ['node', path.join(source, '../viewer/draw_run_test.mjs'),
         path.join(build, 'release/bin'), path.join(source, '../viewer'),
         test('release', 'patterns_trace'), 'mpi', 'long'], 900));
    add('mpi.deadlocks', 1200, () => whole(
        ['node', path.join(source, '../mpi/deadlocks_test.mjs'),
         path.join(build, 'release/bin'), path.join(source, '../mpi')], 1200,
        {EVENTSPACE_DEADLOCKS: 'all', EVENTSPACE_DEADLOCKS_AT_ONCE: '1'}));
    for (const mpi of ['openmpi', 'mpich'])
        add(`planted.${mpi}`, 3000, () => whole(
            ['node', path.join(source, '../mpi/planted_test.mjs'),
             path.join(build, 'release/bin'), path.join(source, '../mpi')],
            3000, {EVENTSPACE_PLANTED: '100', EVENTSPACE_MPI: mpi}));
    add('causes', 3000, () => whole(
        ['node', path.join(source, '../scopes/planted/planted_test.mjs'),
         path.join(build, 'release/bin/eventspace'),
         test('release', 'scopes_planted')],
        3000, {EVENTSPACE_PLANTED: '17'}));
    add('changes', 1500, () => whole(
        ['node', path.join(source, '../scopes/planted/changes_test.mjs'),
         path.join(build, 'release/bin/eventspace'),
         test('release', 'scopes_planted')],
        1500, {EVENTSPACE_CHANGES: '5'}));
    return list;
}

// --- all of it ---

// A line that was cut off, as the last call was killed, is a course to run.
function lines(text) {
    return text.split('\n').filter(Boolean).flatMap((line) => {
        try {
            return [JSON.parse(line)];
        } catch {
            return [];
        }
    });
}

const said = fs.existsSync(file) ? lines(fs.readFileSync(file, 'utf8')) : [];
const known = new Set(said.map((line) => line.name));
const all = courses().filter((c) => new RegExp(options.only).test(c.name));
if (all.length === 0) {
    console.error(`no course's name matches ${options.only}`);
    process.exit(2);
}
if (options.list) {
    for (const course of all)
        console.log(`${course.name}\t${course.seconds} s` +
                    `${known.has(course.name) ? '\tdone' : ''}`);
    process.exit(0);
}
const until = Date.now() + MINUTES * 60000;
let left = 0;
let failed = said.some((line) => line.failed.length);
for (const course of all) {
    if (known.has(course.name))
        continue;
    if (Date.now() + course.seconds * 1000 > until) {
        left++;
        continue;
    }
    process.stderr.write(`${course.name} ... `);
    const begin = Date.now();
    const result = await course.start();
    const line = {name: course.name,
                  seconds: Math.round((Date.now() - begin) / 1000), ...result};
    fs.appendFileSync(file, `\n${JSON.stringify(line)}\n`);
    console.log(JSON.stringify(line));
    process.stderr.write(line.failed.length ? 'FAILED\n' : 'ok\n');
    failed ||= line.failed.length > 0;
}
if (left)
    process.stderr.write(`${left} courses are left; call it again\n`);
process.exit(failed ? 1 : left ? 3 : 0);
