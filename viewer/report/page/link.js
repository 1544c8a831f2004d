/* link.js - the address says what one sees, so that a link to it shows the same:
 * the range of time, the step, the order of the rows and how they are folded,
 * which tables are open, what is searched for, light or dark (scheme.js).
 * #view-NAME is a panel.
 *
 *   #from=1200000&to=3400000&step=20&order=process&open=calls,steps&search=t1
 *
 * Times are nanoseconds, as in JSON. In a page of two runs (pair.js) it is that
 * page's address which says it: first=...&second=... */

/* Of two runs, which this is; else undefined. */
const {side} = window.frameElement?.dataset || {};

function keptText() {
  const own = location.hash.slice(1);
  return own || !side ? own : new URLSearchParams(parent.location.hash.slice(1)).get(side) || '';
}
function keepText(text) {
  if (!side) {
    history.replaceState(null, '', '#' + text);
    return;
  }
  const all = new URLSearchParams(parent.location.hash.slice(1));
  if (text) all.set(side, text); else all.delete(side);
  parent.history.replaceState(null, '', '#' + all);
}

let restoring = false;

function openTables() {
  return [...document.querySelectorAll('#es-views details.table[open] table')]
    .filter((table) => !/^es-panel-/.test(table.id))
    .map((table) => table.id.replace(/^es-view-/, ''));
}

function stateText() {
  const state = new URLSearchParams();
  if (view.t0 > extent[0] || view.t1 < extent[1]) {
    state.set('from', Math.round(view.t0));
    state.set('to', Math.round(view.t1));
  }
  if (view.chosen) state.set('step', view.chosen);
  if (id('order').value !== 'number') state.set('order', id('order').value);
  if (folding.by !== firstFold()) state.set('fold', folding.by);
  const open = openTables();
  if (open.length) state.set('open', open.join(','));
  if (searchField.value) state.set('search', searchField.value);
  if (scheme.chosen !== 'system' && !side) state.set('scheme', scheme.chosen);
  return state.toString();
}

let saving = 0;
function saveSoon() {
  if (restoring) return;
  clearTimeout(saving);
  saving = setTimeout(() => {
    const text = stateText();
    if (text !== keptText() && (text || /=/.test(keptText()))) keepText(text);
  }, 100);
}

function restore() {
  const hash = keptText();
  if (hash.startsWith('view-')) {
    showPanel(decodeURIComponent(hash.slice('view-'.length)));
    return;
  }
  const state = new URLSearchParams(hash), number = (name) => +state.get(name);
  restoring = true;
  if (state.has('scheme')) scheme.choose(state.get('scheme'));
  if (state.has('order') && [...id('order').options].some((o) => o.value === state.get('order'))) {
    id('order').value = state.get('order');
    orderRows(id('order').value);
  }
  if (FOLDS[state.get('fold')]) foldRows(state.get('fold'));
  if (number('to') > number('from')) {
    view.t0 = number('from');
    view.t1 = number('to');
    keepInside();
    schedule();
  }
  if (number('step') > 0) selectStep(number('step'));
  for (const name of (state.get('open') || '').split(',').filter(Boolean)) {
    const table = document.getElementById('es-view-' + name);
    if (table) table.closest('details').open = true;
  }
  if (state.has('search')) {
    searchField.value = state.get('search');
    showFound();
  }
  restoring = false;
}

/* The timeline says its range, and what is chosen, in texts. */
new MutationObserver(saveSoon).observe(id('range'), {childList: true, characterData: true,
  subtree: true});
new MutationObserver(saveSoon).observe(id('said'), {childList: true, characterData: true,
  subtree: true});
id('views').addEventListener('toggle', saveSoon, true);
for (const name of ['order', 'fold']) id(name).addEventListener('change', saveSoon);
searchField.addEventListener('input', saveSoon);
scheme.seen.push(saveSoon);
window.addEventListener('hashchange', restore);
if (side) {
  id('scheme').parentNode.hidden = true; /* the page around has one for both */
  parent.addEventListener('hashchange', restore);
}
