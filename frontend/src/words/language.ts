/** The languages of the page. public/first.js chooses: the saved one, else the browser's, else English. */

export const LANGUAGES = ["en", "de"] as const;
export type Language = (typeof LANGUAGES)[number];

/** Each language by its own name. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: "English", de: "Deutsch" };

/** public/first.js uses the same key. */
const KEY = "normstat-language";

/** Save the choice. It takes effect when the page is loaded again. */
export function saveLanguage(language: Language): void {
  try {
    window.localStorage.setItem(KEY, language);
  } catch {
    // Without storage the browser's language stays.
  }
}
