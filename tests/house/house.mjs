#!/usr/bin/env node
/* house.mjs - whether the sources are laid out as docs/architecture.md and
 * docs/internals/sources.md say.
 *
 *     house.mjs SOURCE_DIR BUILD_DIR
 *
 * Prints, per folder, its sources, and per layer the functions of its headers
 * by their kind, and fails if
 *
 *   - a file includes a header of a layer to the right of its own,
 *   - files call each other in a circle,
 *   - a folder has more than 20 sources (but those of views and commands), or two files have one name (a file of
 *     scopes/views is named by its view, and compared with other views only),
 *   - an external symbol does not begin with the name of its layer,
 *   - a function in a header is used by nobody whom that is for: one of an
 *     _internal.h by another file of its layer, or a test; one of any other
 *     header that is not installed by another folder,
 *   - an _internal.h is included from another layer,
 *   - there are more than 150 functions in installed headers.
 *
 * What is loaded into programs of others (`loaded`) may include headers of a few
 * layers only, and counts as one of the users of these; each of its files is
 * built for each MPI.
 *
 * Who calls whom is read from the objects of the build, by nm(1); what has
 * is left to tests to use, and why, is in `for_tests` below. */
import {execFileSync} from 'node:child_process';
import {existsSync, readFileSync, readdirSync} from 'node:fs';
import {basename, dirname, join, relative} from 'node:path';

const layers = ['pastset', 'paths', 'eventspace', 'scopes', 'predict', 'measure',
  'contracts', 'viewer'];
const loaded = {mpi: ['pastset', 'eventspace', 'mpi']};
const SOURCES_MAX = 20, INSTALLED_MAX = 150;
const [source, build] = process.argv.slice(2);
const problems = [];

/* Folders with a file for each view, or command, which has its name: they may
 * have as many files as there are of these. */
const by_name = ['scopes/views', 'viewer/cli'];

/* Functions, and headers with all of theirs, that nobody uses but tests. */
const for_tests = {
  'operations on an element without a path, whole though paths need not all': [
    'pastset_element_delete', 'pastset_element_set_delta',
    'pastset_read_first', 'pastset_read_match', 'pastset_observe', 'pastset_take'],
  "the papers' formulas, which tests check against their tables": [
    'predict/models/models.h'],
};

/* --- files --- */

function filesBelow(folder) {
  return readdirSync(join(source, folder), {withFileTypes: true})
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return filesBelow(path);
      return /\.[ch]$/.test(entry.name) ? [path] : [];
    });
}

const layerOf = (file) => file.split('/')[0];
const files = layers.flatMap(filesBelow);
const texts = new Map(files.map((file) =>
  [file, readFileSync(join(source, file), 'utf8').replace(/\/\*[^]*?\*\//g, ' ')]));
const installed = new Set(readFileSync(join(source, 'cmake/install.cmake'), 'utf8')
  .match(/set\(installed_headers([^)]*)\)/)?.[1].trim().split(/\s+/) ?? []);

function kindOf(header) {
  if (header.endsWith('_internal.h')) return 'internal';
  return installed.has(header) ? 'installed' : 'layer';
}

/* --- what is included --- */

function checkIncludes() {
  let upwards = 0;
  for (const [file, text] of texts) {
    for (const [, header] of text.matchAll(/#\s*include "([^"]+)"/g)) {
      const mine = layers.indexOf(layerOf(file)), other = layers.indexOf(layerOf(header));
      if (!texts.has(header)) problems.push(`${file} includes ${header}, which is no file of a layer`);
      if (other > mine) {
        problems.push(`${file} includes ${header} of a layer above it`);
        upwards++;
      }
      if (header.endsWith('_internal.h') && layerOf(file) !== layerOf(header))
        problems.push(`${file} includes ${header}, which is for its own layer`);
      if (kindOf(file) === 'installed' && file.endsWith('.h') && kindOf(header) !== 'installed')
        problems.push(`${file} is installed and includes ${header}, which is not`);
    }
  }
  return upwards;
}

function checkLoaded() {
  for (const [folder, allowed] of Object.entries(loaded))
    for (const file of filesBelow(folder))
      for (const [, header] of readFileSync(join(source, file), 'utf8')
        .matchAll(/#\s*include "([^"]+)"/g))
        if (!header.includes('/')) continue; /* CMake has made it */
        else if (!allowed.includes(layerOf(header)) || header.endsWith('_internal.h'))
          problems.push(`${file} includes ${header}: of others it may have public headers of ` +
            allowed.join(', '));
}

function checkNames() {
  const seen = new Map();
  for (const file of files) {
    const name = dirname(file) === 'scopes/views' ? `a view ${basename(file)}`
      : basename(file);
    if (seen.has(name)) problems.push(`${file} and ${seen.get(name)} have one name`);
    seen.set(name, file);
  }
  for (const header of installed)
    if (!texts.has(header)) problems.push(`${header} is to be installed, and is not there`);
}

/* --- what is called: symbols of objects --- */

function objects() {
  const found = new Map(); /* file: object; the last one, if there are several */
  for (const layer of [...layers, ...Object.keys(loaded)]) {
    const own = (layers.includes(layer) ? files : filesBelow(layer))
      .filter((name) => layerOf(name) === layer && name.endsWith('.c'));
    for (const target of readdirSync(join(build, layer, 'CMakeFiles'))) {
      if (!target.endsWith('.dir')) continue;
      for (const file of own) {
        const object = join(build, layer, 'CMakeFiles', target, relative(layer, file) + '.o');
        if (existsSync(object)) found.set(file, object); /* else it is of another target */
      }
    }
  }
  for (const file of files)
    if (file.endsWith('.c') && !found.has(file)) problems.push(`${file} is built nowhere`);
  return found;
}

const definedBy = new Map(); /* symbol: file */
const usedBy = new Map(); /* symbol: set of files */
function readSymbols() {
  const wanted = [], fileOf = new Map([...objects()].map(([file, object]) => [object, file]));
  const text = execFileSync('nm', ['-P', '-A', ...fileOf.keys()],
    {encoding: 'utf8', maxBuffer: 1 << 30});
  for (const line of text.trimEnd().split('\n')) {
    const [object, rest] = line.split(/(?<=\.o): /), [symbol, type] = rest.split(' ');
    const file = fileOf.get(object);
    if ('TDBRVWC'.includes(type) && layers.includes(layerOf(file))) definedBy.set(symbol, file);
    if (type === 'U') wanted.push([symbol, file]);
  }
  for (const [symbol, file] of wanted) {
    if (!usedBy.has(symbol)) usedBy.set(symbol, new Set());
    usedBy.get(symbol).add(file);
  }
}

/* Groups of files each of which calls, by others of the group, itself: strongly
 * connected components (Tarjan). */
function circles() {
  const calls = new Map(files.map((file) => [file, new Set()]));
  for (const [symbol, users] of usedBy) {
    const owner = definedBy.get(symbol);
    if (owner) for (const user of users) if (user !== owner) calls.get(user)?.add(owner);
  }
  const index = new Map(), low = new Map(), stack = [], groups = [];
  const visit = (file) => {
    index.set(file, index.size);
    low.set(file, index.get(file));
    stack.push(file);
    for (const other of calls.get(file)) {
      if (!index.has(other)) {
        visit(other);
        low.set(file, Math.min(low.get(file), low.get(other)));
      } else if (stack.includes(other)) {
        low.set(file, Math.min(low.get(file), index.get(other)));
      }
    }
    if (low.get(file) !== index.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1) groups.push(group.sort());
  };
  for (const file of files) if (!index.has(file)) visit(file);
  return groups;
}

function checkSymbols() {
  for (const [symbol, file] of definedBy) {
    const layer = layerOf(file);
    const own = file.startsWith('viewer/cli/') ? /^(cli_|viewer_|main$)/
      : file === 'viewer/sql/extension.c' ? /^sqlite3_/ /* which SQLite looks for */
      : new RegExp(`^${layer}_`);
    if (!own.test(symbol)) problems.push(`${file}: ${symbol} does not begin with ${layer}_`);
  }
}

/* --- functions of headers --- */

/* A header for others is not there for tests; they may look inside, though. An
 * installed one may be for programs alone. */
const tested = new Set(filesBelow('tests').flatMap((file) =>
  readFileSync(join(source, file), 'utf8').match(/\b\w+\b/g) ?? []));
const testsUse = (symbol) => tested.has(symbol);

function checkFunctions() {
  const excused = new Set(Object.values(for_tests).flat()), needless = new Set(excused);
  const counts = new Map(layers.map((layer) =>
    [layer, {installed: 0, layer: 0, internal: 0, alone: []}]));
  for (const header of files.filter((file) => file.endsWith('.h'))) {
    const kind = kindOf(header), layer = layerOf(header);
    const count = counts.get(layer);
    for (const symbol of new Set(texts.get(header).match(/\b[a-z]\w+(?=\s*\()/g) ?? [])) {
      const owner = definedBy.get(symbol);
      if (!owner || layerOf(owner) !== layer) continue;
      if (layer === 'viewer' && header.startsWith('viewer/cli/')) continue;
      count[kind]++;
      const users = [...usedBy.get(symbol) ?? []].filter((user) => user !== owner);
      const enough = kind === 'installed' ||
        (kind === 'layer' && users.some((user) => dirname(user) !== dirname(header))) ||
        (kind === 'internal' && (users.length > 0 || testsUse(symbol)));
      const excuse = [symbol, header].find((name) => excused.has(name));
      if (!enough && excuse) needless.delete(excuse);
      else if (!enough) count.alone.push(`${header}: ${symbol}`);
    }
  }
  for (const name of needless) problems.push(`${name} is used: it need not be in for_tests`);
  return counts;
}

/* --- all --- */

const upwards = checkIncludes();
checkLoaded();
checkNames();
readSymbols();
checkSymbols();
const groups = circles();
for (const group of groups) problems.push(`a circle: ${group.join(', ')}`);

const folders = new Map();
for (const file of files) {
  const folder = folders.get(dirname(file)) ?? {sources: 0, headers: 0, lines: 0};
  if (file.endsWith('.c')) folder.sources++;
  else folder.headers++;
  folder.lines += readFileSync(join(source, file), 'utf8').split('\n').length - 1;
  folders.set(dirname(file), folder);
}
console.log('folder                    sources headers   lines');
for (const [name, folder] of folders) {
  console.log(`${name.padEnd(26)}${String(folder.sources).padStart(7)}` +
    `${String(folder.headers).padStart(8)}${String(folder.lines).padStart(8)}`);
  if (folder.sources > SOURCES_MAX && !by_name.includes(name))
    problems.push(`${name} has ${folder.sources} sources; where there are more than ` +
      `${SOURCES_MAX}, one is hard to find: make a folder of those that belong together`);
}
console.log(`\n${upwards} includes upwards, ${groups.length} circles among files\n`);
console.log('functions in headers      installed   layer internal   without a user');
let all = 0;
for (const [layer, count] of checkFunctions()) {
  console.log(`${layer.padEnd(26)}${String(count.installed).padStart(9)}` +
    `${String(count.layer).padStart(8)}${String(count.internal).padStart(9)}` +
    `${String(count.alone.length).padStart(17)}`);
  all += count.installed;
  for (const alone of count.alone) problems.push(`nobody else uses it: ${alone}`);
}
if (all > INSTALLED_MAX)
  problems.push(`${all} functions in installed headers, more than ${INSTALLED_MAX}`);

for (const problem of problems) console.log(`FAILED  ${problem}`);
console.log(problems.length ? `${problems.length} problems` : 'ok');
process.exitCode = problems.length ? 1 : 0;
