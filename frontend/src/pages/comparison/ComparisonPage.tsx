export function ComparisonPage() {
  return null;
}
