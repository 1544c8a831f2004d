// recorder.mjs - whether a scope that is a flight recorder keeps what was around one
// slow round, exactly, and how little else travels.
//
//     recorder.mjs BIN ROUNDS_APP FOLDER RUNS
//
// Each run takes five seconds, and has one round that is planted to be slow;
// tests/scopes/gather/recorder_test.mjs makes it, and fails if what was kept is not
// exactly what it should be. Where the machine has made another round slow, its
// surroundings are kept, too: `alone` is the share of runs in which none was. Results
// go to FOLDER/recorder.jsonl, where the next call goes on.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {appendFileSync, existsSync, mkdirSync, readFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

const [bin, app, folder] = process.argv.slice(2).map(word => resolve(word));
const runs = Number(process.argv[5]), ROUNDS = 500;
const test = fileURLToPath(new URL('../scopes/gather/recorder_test.mjs', import.meta.url));
const file = join(folder, 'recorder.jsonl');
mkdirSync(folder, {recursive: true});

const lines = () => existsSync(file) ?
  readFileSync(file, 'utf8').trim().split('\n').map(line => JSON.parse(line)) : [];
function put(line) {
  appendFileSync(file, `${JSON.stringify(line)}\n`);
  console.log(JSON.stringify(line));
}

for (let i = 0; i < runs; i++) {
  const name = `recorder.run.${i}`;
  if (lines().some(line => line.name === name)) continue;
  const {status, stdout, stderr} = spawnSync(process.execPath,
    [test, bin, app, '1', String(ROUNDS), String(i)], {encoding: 'utf8'});
  if (status !== 0) put({name, exact: false, why: stderr.match(/AssertionError.*/)?.[0] ?? stderr});
  else put({name, exact: true, ...JSON.parse(stdout)});
}
const all = lines().filter(({name}) => name.startsWith('recorder.run.'));
const exact = all.filter(line => line.exact);
const alone = exact.filter(line => line.slow_rounds === 1);
assert(alone.length, 'in no run was the planted round the only slow one');
const travelled = alone.map(line => line.travelled);
put({name: 'recorder.sums', runs: all.length, exact: exact.length / all.length,
  alone: alone.length / all.length, travelled_most: Math.max(...travelled),
  travelled: travelled.reduce((sum, share) => sum + share) / travelled.length});
