// Keeps the part of a campaign's page up to date that tells how far a sync is, and loads the page
// anew when the sync is over. Without this script the page loads itself anew every few seconds.

const EVERY_MILLISECONDS = 2000;
const MOST_MILLISECONDS = 30000;

/** How long to wait after this many answers that failed, one after the other. */
export function pause(failures) {
  return Math.min(MOST_MILLISECONDS, EVERY_MILLISECONDS * 2 ** failures);
}

/** Put what is new into the section: text that is the same stays, so that nobody hears it twice. */
export function update(section, answer) {
  section.className = answer.className;
  for (const part of section.querySelectorAll("[data-part]")) {
    const next = answer.querySelector(`[data-part="${part.dataset.part}"]`);
    if (part.innerHTML !== next.innerHTML) part.replaceChildren(...next.childNodes);
  }
}

/** The section as it is now; null where the answer is another page, such as the one to sign in. */
async function ask(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(response.statusText);
  const template = document.createElement("template");
  template.innerHTML = await response.text();
  return template.content.querySelector("[data-sync-progress]");
}

async function follow(section) {
  const address = section.dataset.syncProgress;
  for (let failures = 0; ; ) {
    await new Promise((resolve) => setTimeout(resolve, pause(failures)));
    if (document.hidden) continue;
    try {
      const answer = await ask(address);
      if (!answer?.dataset.syncProgress) return location.reload();
      update(section, answer);
      failures = 0;
    } catch {
      failures += 1;
    }
  }
}

if (globalThis.document) {
  document.querySelectorAll('[data-sync-progress]:not([data-sync-progress=""])').forEach(follow);
}
