/** The keys of the pages for mail, copying, and mail that appears as it comes. They work without it. */
const rowSelector = "a.row";
const isTyping = ({ tagName, isContentEditable }) =>
  isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(tagName);

const offerCopies = (place) => {
  for (const button of place.querySelectorAll("[data-copy]")) button.hidden = false;
};
offerCopies(document);
addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-copy]");
  if (button) copy(button);
});

async function copy(button) {
  const label = button.firstChild;
  const before = label.data;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    label.data = "Copied ";
  } catch {
    const shown = button.parentElement.querySelector(".whole");
    if (shown) getSelection().selectAllChildren(shown);
    label.data = "Selected ";
  }
  setTimeout(() => label.data = before, 2000);
}

addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isTyping(target)) {
    if (key === "Escape") target.blur();
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  if (key === "j" || key === "k") {
    event.preventDefault();
    return step(key === "j" ? 1 : -1);
  }
  const wanted = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (!wanted) return;
  event.preventDefault();
  if (wanted.tagName === "DIALOG") wanted.showModal();
  else if (isTyping(wanted)) wanted.focus();
  else wanted.click();
});

/** To the row below or above: to the one that is shown first, where none has the focus. */
function step(by) {
  const rows = [...document.querySelectorAll(rowSelector)].filter((row) => row.offsetParent);
  const shown = rows.findIndex((row) => row.ariaCurrent === "true");
  const at = rows.indexOf(document.activeElement);
  const to = at >= 0 ? at + by : shown >= 0 ? shown + by : 0;
  rows[Math.min(Math.max(to, 0), rows.length - 1)]?.focus();
}

/** Who opens a mail reads it. */
const onOpen = document.querySelector("form[data-on-open]");
if (onOpen) {
  fetch(onOpen.action, { method: "POST", body: new URLSearchParams(new FormData(onOpen)) })
    .then(async (answer) => answer.ok && show(await answer.text()), () => {});
}

/** What lies behind data-live is taken anew from the server when something has come. */
const { stream } = document.body.dataset;
if (stream) {
  const events = new EventSource(stream);
  let isAsking = false;
  let isWanted = false;
  const update = async () => {
    isWanted = true;
    if (isAsking || document.hidden) return;
    isAsking = true;
    while (isWanted) {
      isWanted = false;
      try {
        const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
        if (answer.ok) show(await answer.text());
      } catch {
        break; // the stream comes back by itself, and asks again
      }
    }
    isAsking = false;
  };
  events.addEventListener("message", update);
  document.addEventListener("visibilitychange", () => !document.hidden && isWanted && update());
}

function show(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const focused = document.activeElement?.getAttribute?.("href");
  const known = new Set([...document.querySelectorAll(rowSelector)].map(({ href }) => href));
  for (const old of document.querySelectorAll("[data-live]")) {
    const part = page.getElementById(old.id);
    if (!part) continue;
    offerCopies(part);
    if (part.innerHTML === old.innerHTML) continue;
    const hadFocus = old.contains(document.activeElement);
    if (hadFocus && isTyping(document.activeElement)) continue;
    for (const row of part.querySelectorAll(rowSelector)) {
      if (!known.has(new URL(row.getAttribute("href"), location).href)) {
        row.classList.add("arrived");
      }
    }
    old.replaceWith(document.adoptNode(part));
    if (hadFocus && focused) part.querySelector(`[href="${CSS.escape(focused)}"]`)?.focus();
  }
  document.title = page.title;
}
