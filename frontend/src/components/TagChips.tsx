import "./TagChips.css";

interface TagChipsProps {
  readonly host: string;
  readonly tags: readonly string[];
  readonly onTag: (tag: string) => void;
  /** Whether the Tab key reaches the chips; in a table with rows to walk through it does not. */
  readonly isReachable?: boolean;
}

/** The tags of a host; each shows the hosts that have it. */
export function TagChips({ host, tags, onTag, isReachable = true }: TagChipsProps) {
  return (
    <span className="tag-chips" role="group" aria-label={`Tags of ${host}`}>
      {tags.map((tag) => (
        <button
          key={tag}
          type="button"
          className="tag-chip"
          title={`Show the hosts with the tag ${tag}`}
          tabIndex={isReachable ? 0 : -1}
          onClick={() => {
            onTag(tag);
          }}
        >
          {tag}
        </button>
      ))}
    </span>
  );
}
