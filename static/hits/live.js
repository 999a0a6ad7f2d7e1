// Keeps the opened tables of a campaign's page open when its numbers are refreshed (htmx).

/** The ids of the opened details elements. */
export function opened(details) {
  return details.filter((each) => each.open && each.id).map((each) => each.id);
}

export function mount(page) {
  let ids = [];
  page.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
    // Other parts of the page refresh themselves, too, and open nothing.
    ids = target.matches("[data-live]") ? opened([...target.querySelectorAll("details")]) : [];
  });
  page.addEventListener("htmx:afterSwap", () => {
    for (const id of ids) page.getElementById(id)?.setAttribute("open", "");
  });
}

if (globalThis.document) mount(document);
