/** What the section REST of a message's blob holds, as finished JSON. */
export interface ShownTexts {
  text: string | null;
  html: string | null;
  extracted_text: string | null;
  headers: Record<string, string[]>;
  links: { url: string; text: string }[];
}
