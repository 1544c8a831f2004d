// links_test.mjs - links in documents lead somewhere.
//
//     links_test.mjs SOURCE
//
// Each relative link in a *.md file, also of a picture, must name a file or
// folder of the sources, and its anchor, if it has one, a heading of that page,
// by the rules by which GitHub names them. Links to other sites are not looked
// at, nor is what stands in code.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const root = resolve(process.argv[2]);
const problems = [];
let links = 0;

function pagesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return path.endsWith(".md") ? [path] : [];
    return [".git", "build", "node_modules"].includes(entry.name) ||
      readdirSync(path).includes("CMakeCache.txt") ? [] : pagesBelow(path);
  });
}

// The lines of a page; those of code blocks are empty.
function lines(page) {
  let fence = null;
  return readFileSync(page, "utf8").split("\n").map((line) => {
    const mark = line.match(/^ {0,3}(```+|~~~+)/)?.[1];
    if (fence) {
      if (mark?.startsWith(fence)) fence = null;
      return "";
    }
    if (mark) fence = mark;
    return mark ? "" : line;
  });
}

const shown = (heading) => heading
  .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "");

const anchorsOf = new Map();
function anchors(page) {
  if (!anchorsOf.has(page)) {
    const found = new Set();
    for (const line of lines(page)) {
      const heading = line.match(/^#{1,6} +(.*?) *#*$/)?.[1];
      if (heading === undefined) continue;
      const name = shown(heading).toLowerCase()
        .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "").replaceAll(" ", "-");
      let unique = name;
      for (let i = 1; found.has(unique); i++) unique = `${name}-${i}`;
      found.add(unique);
    }
    anchorsOf.set(page, found);
  }
  return anchorsOf.get(page);
}

function check(page, number, link) {
  const [path, anchor] = link.split("#");
  const target = path === "" ? page : resolve(dirname(page), decodeURI(path));
  const at = `${relative(root, page)}:${number}: ${link}`;

  links++;
  if (relative(root, target).startsWith("..")) problems.push(`${at}: leads out of the sources`);
  else if (!existsSync(target)) problems.push(`${at}: no such file`);
  else if (anchor !== undefined &&
    !(statSync(target).isFile() && target.endsWith(".md") && anchors(target).has(anchor)))
    problems.push(`${at}: no such heading`);
}

for (const page of pagesBelow(root)) {
  // Links may be broken over lines, and code within a line is no link.
  const text = lines(page).join("\n").replace(/(`+)[^`]*?\1/g, (code) => code.replace(/[^\n]/g, " "));
  const found = [...text.matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)/g),
    ...text.matchAll(/^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)/gm)];
  for (const match of found) {
    if (/^[a-z][a-z0-9+.-]*:/i.test(match[1])) continue;
    check(page, text.slice(0, match.index).split("\n").length, match[1]);
  }
}

for (const problem of problems) console.log(problem);
console.log(`${links} links, ${problems.length} lead nowhere`);
process.exitCode = links > 50 && problems.length === 0 ? 0 : 1;
