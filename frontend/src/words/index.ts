/** The words of the page, in the language that public/first.js has chosen: constants of modules have words in them. */

import { en, type Words } from "./en";
import type { Language } from "./language";

declare global {
  interface Window {
    /** The words of another language than English, brought by a module that ran before. */
    normstatWords?: Words;
  }
}

/** Another catalogue than the English one; null for English. */
export const translated: Words | null = typeof window === "undefined" ? null : (window.normstatWords ?? null);

export const language: Language = translated === null ? "en" : "de";

/** In the build, the English words of each page are in that page's file: build_words.ts. */
export const words: Words = translated ?? en;

if (typeof document !== "undefined") {
  document.documentElement.lang = language;
}
