// Before the first paint: a theme that the reader chose. Storage may refuse, as it does for some files on disk.
"use strict";
try {
  const chosen = localStorage.getItem("provsel-theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
} catch (refused) {
  // The system's theme holds.
}
