/* export.js - pictures as SVG and PNG, tables as CSV: files that are whole by
 * themselves. */

/* What the page's style gives to the marks of a picture. */
const STYLES = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-size',
  'font-weight', 'font-family', 'text-anchor', 'opacity', 'display'];

/* A copy of a picture that needs no page. */
function svgText(svg) {
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll('*')], to = [copy, ...copy.querySelectorAll('*')];
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const name of STYLES) to[i].style.setProperty(name, style.getPropertyValue(name));
    to[i].removeAttribute('class');
  });
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.style.background = getComputedStyle(document.body).backgroundColor;
  return new XMLSerializer().serializeToString(copy);
}

/* The pictures of a panel below each other, as one. */
function svgOf(box) {
  const all = [...box.querySelectorAll('svg.picture')];
  if (all.length === 1) return svgText(all[0]);
  let y = 0, width = 0, inner = '';
  for (const svg of all) {
    const height = +svg.getAttribute('height');
    width = Math.max(width, +svg.getAttribute('width'));
    inner += `<g transform="translate(0,${y})">${svgText(svg)}</g>`;
    y += height;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}" ` +
    `viewBox="0 0 ${width} ${y}">${inner}</svg>`;
}

/* Twice as fine as the screen's, for paper and slides. */
function pngOf(svg) {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => {
      const canvas = document.createElement('canvas');
      canvas.width = 2 * image.width;
      canvas.height = 2 * image.height;
      const paper = canvas.getContext('2d');
      paper.fillStyle = getComputedStyle(document.body).backgroundColor;
      paper.fillRect(0, 0, canvas.width, canvas.height);
      paper.drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(resolve, 'image/png');
    };
    image.onerror = () => reject(new Error('the picture cannot be drawn'));
    image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(svg);
  });
}

/* As `eventspace view --format csv` prints it (RFC 4180). */
const quoted = (text) => /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
function csvOf(table) {
  const line = (cells) => cells.map((cell) => cell === null ? '' : quoted(String(cell))).join(',');
  return [line(table.columns.map((column) => column.key)), ...table.rows.map(line)].join('\r\n') +
    '\r\n';
}

function save(name, blob) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
