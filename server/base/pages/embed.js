/**
 * Hands the fragment of the address to the page that is shown inside this one, which no server is
 * told, and gives that page the height that it needs.
 */
const inner = document.querySelector("iframe.embedded");

if (inner !== null) {
  inner.addEventListener("load", watch);
  addEventListener("hashchange", handOver);
  handOver();
  // It may have been there before this script.
  if (inner.contentDocument?.readyState === "complete") watch();
}

function handOver() {
  if (location.hash.length < 2) return;
  inner.contentWindow.location.replace(new URL(location.hash, inner.src));
}

function watch() {
  const root = inner.contentDocument?.documentElement;
  if (root == null) return;
  const fit = () => inner.height = String(Math.ceil(root.getBoundingClientRect().height));
  new ResizeObserver(fit).observe(root);
  fit();
}
