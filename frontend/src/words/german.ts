/** Brings the German words. public/first.js loads it before the page's own modules if German is wished. */

import { de } from "./de";

window.normstatWords = de;
