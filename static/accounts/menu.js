// Closes the account's menu by Escape, and puts the focus back on its button.

export function mount(menu) {
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

if (globalThis.document) document.querySelectorAll("[data-menu]").forEach(mount);
