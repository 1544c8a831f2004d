/* scheme.js - light, dark, or as the system says. It is in the head of the page,
 * so that it is known before anything is drawn. The address of the page says
 * what is chosen (link.js), and the root of the document has the scheme that is
 * seen, as `data-scheme`. Paper is always light.
 *
 * Of a page in a page of two runs it is that one's: what is chosen is for all
 * of it. Listeners of `seen` draw again what CSS does not reach. */
'use strict';

const scheme = (function () {
  const pair = window.frameElement?.dataset.side && parent.eventspaceScheme;
  const system = matchMedia('(prefers-color-scheme: dark)');
  let printing = false;
  const all = pair || {
    chosen: 'system',
    seen: [], /* functions */
    get name() {
      return printing ? 'light' : all.chosen !== 'system' ? all.chosen :
        system.matches ? 'dark' : 'light';
    },
    choose(name) {
      all.chosen = ['light', 'dark'].includes(name) ? name : 'system';
      all.show();
    },
    show() {
      for (const call of all.seen) call();
    },
    print(now) {
      printing = now;
      all.show();
    },
  };
  const take = () => { document.documentElement.dataset.scheme = all.name; };
  take();
  all.seen.push(take);
  window.addEventListener('beforeprint', () => all.print(true));
  window.addEventListener('afterprint', () => all.print(false));
  if (!pair) {
    system.addEventListener('change', all.show);
    all.choose(new URLSearchParams(location.hash.slice(1)).get('scheme'));
  }
  return all;
})();
window.eventspaceScheme = scheme;

/* What one chooses it by. */
function watchScheme(select) {
  select.value = scheme.chosen;
  select.addEventListener('change', () => scheme.choose(select.value));
  scheme.seen.push(() => { select.value = scheme.chosen; });
}
