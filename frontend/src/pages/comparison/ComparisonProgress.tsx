import { Progress, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { progressQuery } from "../../api/comparison";
import type { ComparisonInputs } from "../../logic/against";
import { formatCount } from "../../logic/number";

const PATIENCE_MS = 1_000;

/** What is being compared; after a second, the progress. */
export function ComparisonProgress({ inputs }: { readonly inputs: ComparisonInputs }) {
  const progress = useQuery(progressQuery(inputs)).data ?? null;
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => {
      setLate(true);
    }, PATIENCE_MS);
    return () => {
      clearTimeout(timer);
    };
  }, []);
  return (
    <div className="comparing" role="status">
      <Text fz="sm" className="soft">
        {`Comparing every series of ${inputs.hosts.join(", ")} …`}
        {isLate && progress && ` ${formatCount(progress.done)} of ${formatCount(progress.total)}: ${progress.what}`}
      </Text>
      {isLate && progress && progress.total > 0 && (
        <Progress size="sm" mt={6} value={(100 * progress.done) / progress.total} aria-label="Progress of the comparison" />
      )}
    </div>
  );
}
