// registered_test.mjs - every test that is in the folders is run by ctest.
//
//     registered_test.mjs SOURCE BUILD CTEST
//
// A suite that stands in no CMake file, or one that was not built, says nothing
// and looks as if it held. So what ctest would run is compared with the files:
// a C source with the test of its name, and a script or a model with whatever
// command it is an argument of.
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";

const [source, build, ctest] = process.argv.slice(2);

// What stands for a test by its name, and the name that ctest has for it; or
// none, if the file itself is given to a command.
const kinds = [
  [/^tests\/([^/]+\/)(?:[^/]+\/)*([^/]+_(?:test|stress))\.c$/, (m) => m[1] + m[2]],
  [/^tests\/fuzz\/(.+)_fuzz\.c$/, (m) => `fuzz/${m[1]}`],
  [/^tests\/[^/]+\/.+_(?:test|check)\.(?:sh|mjs)$/],
  [/^(?!tests\/).+\.pml$/],
];

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return [path];
    return entry.name === ".git" || entry.name === "build" ||
      readdirSync(path).includes("CMakeCache.txt") ? [] : filesBelow(path);
  });
}

const { tests } = JSON.parse(execFileSync(
  ctest, ["--test-dir", build, "--show-only=json-v1"],
  { encoding: "utf8", maxBuffer: 1 << 26 }));
const names = new Map(tests.map((test) => [test.name, test]));
const root = resolve(source);
const given = new Set(tests.flatMap(
  (test) => (test.command ?? []).map((word) => relative(root, word))));

const problems = [];
let seen = 0;
for (const file of filesBelow(root).map((path) => relative(root, path))) {
  for (const [pattern, nameOf] of kinds) {
    const match = file.match(pattern);
    if (!match) continue;
    seen++;
    if (nameOf ? !names.has(nameOf(match)) : !given.has(file))
      problems.push(`${file}: no test of ctest runs it; ` +
        "add it to a CMake file of its folder");
  }
}
for (const test of tests)
  if (!test.command) problems.push(`${test.name}: its program is not built`);
if (seen === 0) problems.push(`${basename(root)}: no tests found`);

for (const problem of problems) console.log(problem);
console.log(`${seen} files, ${tests.length} tests, ${problems.length} problems`);
process.exit(problems.length ? 1 : 0);
