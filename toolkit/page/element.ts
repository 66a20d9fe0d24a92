/// <reference lib="dom" />
/**
 * Makes an element. Text becomes text nodes, so that nothing in it is ever read as HTML.
 *
 * @param attributes names and values
 * @param children elements and texts
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
