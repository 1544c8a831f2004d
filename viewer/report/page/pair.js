/* pair.js - a page of two runs: each report is a page of its own, in a frame.
 * What one sees in it stands in the address of this page, under the name of its
 * side (link.js); light and dark are for all. */
const frames = [...document.querySelectorAll('iframe')];

watchScheme(document.getElementById('es-scheme'));
scheme.seen.push(() => {
  const all = new URLSearchParams(location.hash.slice(1));
  if (scheme.chosen === 'system') all.delete('scheme'); else all.set('scheme', scheme.chosen);
  if (all.toString() !== location.hash.slice(1)) history.replaceState(null, '', '#' + all);
});
window.addEventListener('hashchange', () =>
  scheme.choose(new URLSearchParams(location.hash.slice(1)).get('scheme')));

/* On paper nothing scrolls. */
window.addEventListener('beforeprint', () => {
  for (const frame of frames)
    frame.style.height = frame.contentDocument.documentElement.scrollHeight + 'px';
});
window.addEventListener('afterprint', () => {
  for (const frame of frames) frame.style.height = '';
});
