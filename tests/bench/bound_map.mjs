// bound_map.mjs - maps of two processes, each bound to its processor: what is measured
// then is not where the kernel puts them.
import assert from 'node:assert/strict';

// The text of a map that was generated for h0 and h1; gives it with their affinities.
export function bound(text) {
  const found = text.replace(/(subgraph "?cluster_h([01])"? \{)/g, '$1 affinity="$2";');
  assert.equal(found.match(/affinity=/g)?.length, 2, text);
  return found;
}
