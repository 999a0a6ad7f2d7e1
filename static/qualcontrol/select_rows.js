// Selecting rows of a list: one box for all of them, and how many are selected. The list's form
// works without it.

/** The text about this many selected rows. */
export function told(count) {
  return count === 0 ? "" : `(${count} selected)`;
}

function mount(form) {
  const all = form.querySelector("[data-select-all]");
  const rows = [...form.querySelectorAll("tbody input[type=checkbox]")];
  const [box] = all.querySelectorAll("input");
  const output = form.querySelector("[data-selected]");
  const count = () => {
    const selected = rows.filter((row) => row.checked).length;
    box.checked = selected === rows.length;
    box.indeterminate = selected > 0 && selected < rows.length;
    output.value = told(selected);
  };
  all.hidden = false;
  form.addEventListener("change", ({ target }) => {
    if (target === box) for (const row of rows) row.checked = box.checked;
    count();
  });
  window.addEventListener("pageshow", count); // A browser keeps the boxes of a page it goes back to.
}

if (globalThis.document) document.querySelectorAll("[data-select-rows]").forEach(mount);
