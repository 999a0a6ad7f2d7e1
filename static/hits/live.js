// Keeps the opened tables of a campaign's page open when its numbers are refreshed (htmx).

/** The ids of the opened details elements. */
export function opened(details) {
  return details.filter((each) => each.open && each.id).map((each) => each.id);
}

if (globalThis.document) {
  let ids = [];
  document.addEventListener("htmx:beforeSwap", ({ detail }) => {
    if (detail.target.matches("[data-live]")) ids = opened([...detail.target.querySelectorAll("details")]);
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const id of ids) document.getElementById(id)?.setAttribute("open", "");
  });
}
