// The theme's buttons that unfold a part of the navigation have no name; call each after its link.
document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll(".bd-sidebar summary:not([aria-label])")) {
    const link = summary.closest("li")?.querySelector("a");
    summary.setAttribute("aria-label", `Pages of ${link?.textContent.trim() ?? "this part"}`);
  }
});
