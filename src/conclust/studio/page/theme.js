"use strict";
// Before the first paint, so that nobody in the dark is dazzled.
try {
  const theme = localStorage.getItem("conclust-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage is switched off: the system's choice stands.
}
