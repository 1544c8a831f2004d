// pairs.mjs - a path map of two pairs of processes which have nothing to do with each
// other, so that one goes on while the other stands still: map.dot, in this folder.
import {writeFileSync} from 'node:fs';

// `output` runs a program that may end with these codes.
export function pairsWrite(output) {
  writeFileSync('app.dot', `digraph pairs {
    a [kind=element, type="u64"]; b [kind=element, type="u64"];
    ${[0, 1, 2, 3].map(i => `t${i} [kind=thread, number=${i}];
    t${i} -> ${i < 2 ? 'a' : 'b'} [as=total, use=sum];`).join(' ')}
}
`);
  output([0], 'eventspace', 'map', 'generate', '--application=app.dot', '--processes=4',
    '--output=plain.dot');
  output([0], 'eventspace', 'map', 'instrument', 'plain.dot', '--output=map.dot');
}
