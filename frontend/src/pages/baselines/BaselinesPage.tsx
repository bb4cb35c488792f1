export function BaselinesPage() {
  return null;
}
