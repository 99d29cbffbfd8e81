// Links and buttons that show no words get a name for those who hear the page: the theme's buttons
// that unfold a part of the navigation, and the pictures of the gallery.
document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll(".bd-sidebar summary:not([aria-label])")) {
    const link = summary.closest("li")?.querySelector("a");
    summary.setAttribute("aria-label", `Pages of ${link?.textContent.trim() ?? "this part"}`);
  }
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a:not([aria-label])")) {
    link.setAttribute("aria-label", link.textContent.trim());
  }
});
