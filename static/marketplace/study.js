// Takes a participant who has done everything back to where they came from.
const SECONDS_TO_READ = 3;

export function mountWayBack(link) {
  setTimeout(() => location.assign(link.href), SECONDS_TO_READ * 1000);
}

if (globalThis.document) document.querySelectorAll("[data-goes-back]").forEach(mountWayBack);
