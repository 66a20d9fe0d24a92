/** Brings the parts of a page marked data-live up to date while somebody looks at it. */
const bar = document.getElementById("live");
const button = document.createElement("button");
const status = document.createElement("span");
let tag = "";
let isPaused = false;
let isAsking = false;

button.type = "button";
button.className = "secondary";
status.setAttribute("role", "status");
bar.replaceChildren(status, button);
button.addEventListener("click", () => {
  isPaused = !isPaused;
  tell();
  update();
});
document.addEventListener("visibilitychange", update);
setInterval(update, 5000);
tell();

async function update() {
  if (isPaused || isAsking || document.hidden) return;
  isAsking = true;
  const headers = { Accept: "text/html", ...(tag && { "If-None-Match": tag }) };
  try {
    const answer = await fetch(location.href, { headers, cache: "no-store" });
    if (answer.ok) tag = show(await answer.text()) ? answer.headers.get("ETag") : "";
    tell(answer.ok || answer.status === 304);
  } catch {
    tell(false);
  }
  isAsking = false;
}

/** Leaves what the reader is using as it is; false where something was left. */
function show(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const chosen = getSelection();
  let isAll = true;
  for (const old of document.querySelectorAll("[data-live]")) {
    const part = page.getElementById(old.id);
    if (!part || part.innerHTML === old.innerHTML) continue;
    if (
      old.contains(document.activeElement) ||
      (!chosen.isCollapsed && chosen.containsNode(old, true))
    ) isAll = false;
    else old.replaceWith(part);
  }
  return isAll;
}

function tell(isReached = true) {
  button.textContent = isPaused ? "Go on" : "Pause";
  const text = isPaused ? "Paused." : isReached ? "Live." : "No answer; trying again.";
  if (status.textContent !== text) status.textContent = text;
}
