import { type Colour, COLOUR_LABELS } from "../logic/watch";
import "./ColourBadge.css";

interface ColourBadgeProps {
  /** Null: unknown. */
  readonly colour: Colour | null;
}

/** The state of a rule by shape, letter, word and colour: those that need attention are filled. */
export function ColourBadge({ colour }: ColourBadgeProps) {
  const label = colour === null ? "unknown" : COLOUR_LABELS[colour];
  return (
    <span className="colour-badge" data-colour={colour ?? "unknown"}>
      <ColourSymbol colour={colour} label={label} />
      <span>{label}</span>
    </span>
  );
}

/** The state alone, by shape, letter and colour, where there is no room for the word: what it stands in says it. */
export function ColourMark({ colour }: ColourBadgeProps) {
  return (
    <span className="colour-badge" data-colour={colour ?? "unknown"}>
      <ColourSymbol colour={colour} label={colour === null ? "?" : COLOUR_LABELS[colour]} />
    </span>
  );
}

function ColourSymbol({ colour, label }: ColourBadgeProps & { readonly label: string }) {
  return (
    <svg viewBox="0 0 18 18" width="16" height="16" aria-hidden>
      <ColourShape colour={colour} />
      <text x="9" y={colour === "amber" ? 14.4 : 12.6} textAnchor="middle">
        {colour === null ? "?" : label.charAt(0).toUpperCase()}
      </text>
    </svg>
  );
}

function ColourShape({ colour }: ColourBadgeProps) {
  switch (colour) {
    case "amber":
      return <path className="mark" d="M9 1.5 L17 16.5 L1 16.5 Z" />;
    case "red":
      return <path className="mark" d="M6 1 H12 L17 6 V12 L12 17 H6 L1 12 V6 Z" />;
    case "black":
      return <rect className="mark" x="1.5" y="1.5" width="15" height="15" />;
    case null:
      return <path className="mark mark-hollow" d="M9 1 L17 9 L9 17 L1 9 Z" />;
    case "white":
    case "blue":
    case "green":
      return <circle className="mark mark-hollow" cx="9" cy="9" r="7.5" />;
  }
}
