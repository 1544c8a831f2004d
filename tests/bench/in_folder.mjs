/* in_folder.mjs - programs of a build, run in a folder that is removed at the end;
 * what benchmarks of whole runs share. */
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

/* `output` runs a program, which must not fail, and gives what it prints. */
export function inFolder(bin, name) {
  const folder = mkdtempSync(join(tmpdir(), `eventspace-${name}-`));
  const environment = {...process.env, PATH: `${bin}:${process.env.PATH}`};
  process.on('exit', () => rmSync(folder, {recursive: true, force: true}));
  return {folder, environment, output(program, ...words) {
    const done = spawnSync(join(bin, program), words, {cwd: folder, encoding: 'utf8',
      maxBuffer: 1 << 28, env: environment});
    assert.equal(done.status, 0, `${program} ${words.join(' ')}: ${done.stderr}`);
    return done.stdout;
  }};
}

export const nap = ms => new Promise(done => setTimeout(done, ms));
export const median = list => [...list].sort((a, b) => a - b)[(list.length - 1) >> 1];
