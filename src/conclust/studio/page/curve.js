// A curve of shares, 0 to 1, over numbers of answers.

import { draw } from "./dom.js";
import { number, say, share } from "./words.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [640, 240, 52, 16, 14, 34];

export function curve(points) {
  const [first, last] = [points[0][0], points[points.length - 1][0]];
  const x = (n) => LEFT + ((n - first) / (last - first || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - value * (HEIGHT - TOP - BOTTOM);
  const path = points.map(([n, value], i) => `${i ? "L" : "M"}${x(n).toFixed(1)},${y(value).toFixed(1)}`).join("");
  const lines = [0, 0.5, 1].map((value) => [
    draw("line", { class: "rule", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
    draw("text", { x: LEFT - 8, y: y(value) + 5, "text-anchor": "end" }, share(value)),
  ]);
  const ends = [[first, "start"], [last, "end"]].map(([n, anchor]) => draw("text", { x: x(n), y: HEIGHT - 10, "text-anchor": anchor }, number(n)));
  const [, latest] = points[points.length - 1];
  return draw("svg", { class: "curve", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": say("curve.words", { first: share(points[0][1]), last: share(latest), n: last }) },
    lines, ends,
    draw("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 10, "text-anchor": "middle" }, say("curve.answers")),
    draw("path", { class: "area", d: `${path}L${x(last)},${y(0)}L${x(first)},${y(0)}Z` }),
    draw("path", { class: "line", d: path }),
    draw("circle", { class: "dot", cx: x(last), cy: y(latest), r: 5 }));
}
