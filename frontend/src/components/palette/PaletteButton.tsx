import { IconSearch } from "@tabler/icons-react";
import { PALETTE_SHOWN } from "../../logic/keys";
import { openPalette } from "../../state/palette";
import "./Palette.css";

/** The search box of the header; it opens the palette. */
export function PaletteButton() {
  return (
    <button
      type="button"
      className="palette-box"
      aria-haspopup="dialog"
      aria-keyshortcuts="Control+K Meta+K"
      onClick={() => {
        openPalette("all");
      }}
    >
      <IconSearch size={15} aria-hidden />
      <span>Search </span>
      <kbd>{PALETTE_SHOWN}</kbd>
    </button>
  );
}
