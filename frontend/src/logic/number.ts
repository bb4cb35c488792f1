/**
 * Number formatting: thousands separators, and never more digits than the tool printed. The server writes numbers alike
 * (runtime/readable.py); both are held to readable_cases.json.
 */

const formatters = new Map<string, Intl.NumberFormat>();

function formatterOf(fewest: number, most: number): Intl.NumberFormat {
  const key = `${String(fewest)}:${String(most)}`;
  let formatter = formatters.get(key);
  if (formatter === undefined) {
    formatter = new Intl.NumberFormat("en-US", { minimumFractionDigits: fewest, maximumFractionDigits: most });
    formatters.set(key, formatter);
  }
  return formatter;
}

const MAX_DECIMALS = 12;

/** Return a value as the tool would print it, with thousands separators; an en dash for a missing value. */
export function formatValue(value: number | null, decimals: number): string {
  if (value === null || !Number.isFinite(value)) {
    return "–";
  }
  const digits = Math.min(MAX_DECIMALS, Math.max(0, decimals));
  return formatterOf(digits, digits)
    .format(value === 0 ? 0 : value)
    .replace(/^-/, "−");
}

/** Return a value with its unit: `1,234 kB/s`, `12.5 %`. */
export function formatWithUnit(value: number | null, decimals: number, unit: string): string {
  const text = formatValue(value, decimals);
  return value === null || unit === "" ? text : `${text} ${unit}`;
}

/** Return a number with `digits` significant digits, and all its whole ones: `15,126,580`, `3.768`, `0.0423`. */
export function formatDigits(value: number | null, digits = 4): string {
  if (value === null || !Number.isFinite(value) || value === 0) {
    return formatValue(value, 0);
  }
  const text = formatValue(value, digits - 1 - Math.floor(Math.log10(Math.abs(value))));
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}

/** Return a count as text: `86,400`. */
export function formatCount(count: number): string {
  return formatterOf(0, 0).format(count);
}

/** Return a computed number, such as a score, with about three digits. */
export function formatScore(value: number): string {
  if (!Number.isFinite(value)) {
    return "∞";
  }
  const size = Math.abs(value);
  const decimals = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return formatterOf(decimals, decimals).format(value);
}

/** Return bytes as text: `1.4 MB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = bytes;
  let index = 0;
  while (size >= 1000 && index < units.length - 1) {
    size /= 1000;
    index += 1;
  }
  return `${formatterOf(0, index === 0 ? 0 : size < 10 ? 2 : size < 100 ? 1 : 0).format(size)} ${units[index] ?? ""}`;
}

/** Return a share (0 to 1) as percentage: `97.3 %`; never rounded to 0 or 100 %. */
export function formatShare(share: number): string {
  const percent = share * 100;
  const shown = Math.round(percent * 10) / 10;
  const held = percent < 100 && shown >= 100 ? 99.9 : percent > 0 && shown <= 0 ? 0.1 : shown;
  return `${formatterOf(0, 1).format(held)} %`;
}
