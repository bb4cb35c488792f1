import { Button } from "@mantine/core";
import { StateView } from "../../components/StateView";
import { words } from "../../words";

/** A host that has sent nothing yet, and where to look why. */
export function NoSamples({ onStreams }: { readonly onStreams: () => void }) {
  return (
    <StateView
      state={{
        kind: "empty",
        title: words.host.noSamples.hostHasNoSamples,
        next: (
          <>
            {words.host.noSamples.seeStreamsTabLive}{" "}
            <Button size="compact-xs" variant="default" onClick={onStreams}>
              {words.host.noSamples.showStreams}
            </Button>
          </>
        ),
      }}
    />
  );
}
