import { Button } from "@mantine/core";
import { StateView } from "../../components/StateView";

/** A host that has sent nothing yet, and where to look why. */
export function NoSamples({ onStreams }: { readonly onStreams: () => void }) {
  return (
    <StateView
      state={{
        kind: "empty",
        title: "This host has no samples yet",
        next: (
          <>
            See the Streams tab. A live stream without samples may come from a tool that has no spec.{" "}
            <Button size="compact-xs" variant="default" onClick={onStreams}>
              Show streams
            </Button>
          </>
        ),
      }}
    />
  );
}
