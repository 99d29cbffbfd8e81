// Clusters by colour and shape, the same as in the report.

import { draw } from "./dom.js";

// Each at least 4.5 : 1 against its ground, and with another shape beside it for those who see no hue.
const LIGHT = ["#0b5a9d", "#a34a00", "#1d6b34", "#7b2d9b", "#a8206a", "#006d77", "#6b4423", "#3d4756"];
const DARK = ["#74b3f0", "#f2994f", "#6fcb8a", "#cb95ea", "#f389bb", "#4fc5cf", "#d1a37c", "#b0bccb"];
const NO_CLUSTER = { light: "#4a5568", dark: "#a9b4c2" };
// Around the origin, for a radius of 5.
export const SHAPES = [
  "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0z",
  "M-4.5,-4.5l9,0l0,9l-9,0z",
  "M0,-6l5.5,10l-11,0z",
  "M0,-6.5l5.5,6.5l-5.5,6.5l-5.5,-6.5z",
  "M0,6l5.5,-10l-11,0z",
];
/** Clusters whose numbers differ by this look the same. */
export const N_LOOKS = LIGHT.length * SHAPES.length;

const prefersDark = matchMedia("(prefers-color-scheme: dark)");

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : prefersDark.matches;
}

export function color(cluster) {
  const colors = isDark() ? DARK : LIGHT;
  return cluster >= 0 ? colors[cluster % colors.length] : NO_CLUSTER[isDark() ? "dark" : "light"];
}

export const shape = (cluster) => SHAPES[Math.max(cluster, 0) % SHAPES.length];

/** The mark of a cluster, to stand beside its name. */
export function marker(cluster) {
  const tone = cluster >= 0 ? cluster % LIGHT.length : "none";
  return draw("svg", { class: `marker tone-${tone}`, viewBox: "-7 -7 14 14", "aria-hidden": "true" },
    draw("path", { d: shape(cluster) }));
}

/** Be told when the colours of the ground change. */
export function onGround(told) {
  prefersDark.addEventListener("change", told);
  document.addEventListener("ground", told);
}
