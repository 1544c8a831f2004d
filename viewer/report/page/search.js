/* search.js - finding threads, what stands in the map, and views. "/" goes to
 * the field, arrows through what is found. */

const FOUND_MAX = 12;
const searchField = id('search'), foundList = id('found');

/* {text, kind, show} of all that can be found. */
const findable = [
  ...run.threads.map((thread, number) => ({text: thread.name, kind: 'thread',
    show: () => showThread(number)})),
  ...[...panels.values()].map((panel) => ({text: panel.title, also: panel.name, kind: 'view',
    show: () => showPanel(panel.name)})),
  ...mapNodes.map(([text, node]) => ({text, kind: 'in the map', show: () => showNode(node)})),
];

/* Those that begin with the words come first. */
function find(words) {
  const wanted = words.trim().toLowerCase();
  if (!wanted) return [];
  const rank = ({text, also = ''}) => {
    const at = text.toLowerCase().indexOf(wanted);
    return at >= 0 ? at : also.toLowerCase().includes(wanted) ? 1000 : -1;
  };
  return findable.map((item) => [rank(item), item]).filter(([at]) => at >= 0)
    .sort((a, b) => a[0] - b[0] || collator.compare(a[1].text, b[1].text)).map(([, item]) => item);
}

function showFound() {
  const all = find(searchField.value), shown = all.slice(0, FOUND_MAX);
  const list = d3.select(foundList).property('hidden', !searchField.value.trim());
  list.selectAll('*').remove();
  const item = list.selectAll('li').data(shown).enter().append('li');
  item.append('button').attr('type', 'button').text((d) => d.text)
    .on('click', (d) => { hideFound(); d.show(); })
    .append('span').attr('class', 'kind').text((d) => ' ' + d.kind);
  id('found-count').textContent = !searchField.value.trim() ? '' :
    all.length > shown.length ? `${shown.length} of ${count(all.length)} shown` :
      all.length ? `${count(all.length)} found` : 'nothing found';
}
function hideFound() {
  foundList.hidden = true;
}

function moveFound(by) {
  const list = [...foundList.querySelectorAll('button')];
  const at = list.indexOf(document.activeElement) + by;
  if (at < 0) searchField.focus();
  else if (at < list.length) list[at].focus();
}

searchField.addEventListener('input', showFound);
id('search-form').addEventListener('submit', (event) => {
  event.preventDefault();
  const [first] = find(searchField.value);
  if (!first) return;
  hideFound();
  first.show();
});
id('search-form').addEventListener('keydown', (event) => {
  const keys = {ArrowDown: () => moveFound(1), ArrowUp: () => moveFound(-1),
    Escape: () => { searchField.value = ''; showFound(); searchField.focus(); }};
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
document.addEventListener('keydown', (event) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  searchField.focus();
  searchField.select();
});
document.addEventListener('click', (event) => {
  if (!id('search-form').contains(event.target)) hideFound();
});
