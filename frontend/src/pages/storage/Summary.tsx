import { IconAlertTriangle } from "@tabler/icons-react";
import type { StorageInfo } from "../../logic/api";
import { formatBytes } from "../../logic/number";
import { describePacking, describeStandby, forecastOf, formatGrowth, slicesOf } from "../../logic/storage";
import { percent } from "../../logic/surface";

/** Disk usage as a bar, growth, and when the disk will be full. */
export function Summary({ storage }: { readonly storage: StorageInfo }) {
  const forecast = forecastOf(storage);
  const slices = slicesOf(storage);
  const { disk } = storage;
  const standby = describeStandby(storage);
  const isWarning = forecast.level === "warn" || forecast.level === "urgent";
  return (
    <section aria-label="Disk">
      <dl className="storage-facts">
        <div className="card storage-fact">
          <dt>Database</dt>
          <dd>{formatBytes(storage.database_bytes)}</dd>
        </div>
        <div className="card storage-fact">
          <dt>Free disk space</dt>
          <dd>
            {disk.free_bytes === null ? "unknown" : formatBytes(disk.free_bytes)}
            {disk.total_bytes !== null && <small>{`of ${formatBytes(disk.total_bytes)}`}</small>}
          </dd>
        </div>
        <div className="card storage-fact">
          <dt>Growth per day</dt>
          <dd>
            {storage.growth_bytes_per_day === null ? "unknown yet" : formatGrowth(storage.growth_bytes_per_day)}
            {storage.growth_bytes_per_day !== null && (
              <small>average of the last week, or of the last four if that is more</small>
            )}
          </dd>
        </div>
        <div className="card storage-fact" data-level={forecast.level}>
          <dt>
            {isWarning && <IconAlertTriangle size={14} aria-hidden style={{ verticalAlign: "-2px", marginRight: 4 }} />}
            Time until the disk is full
          </dt>
          <dd>
            {/* A definition may hold an alert; the list of them may not. */}
            <div {...(isWarning ? { role: "alert" } : {})}>
              {forecast.text}
              {forecast.note !== "" && <small>{forecast.note}</small>}
            </div>
          </dd>
        </div>
        {standby !== null && (
          <div className="card storage-fact" data-level={standby.level}>
            <dt>
              {standby.level === "warn" && (
                <IconAlertTriangle size={14} aria-hidden style={{ verticalAlign: "-2px", marginRight: 4 }} />
              )}
              Standby
            </dt>
            <dd>
              {standby.text}
              <small>{standby.note}</small>
            </dd>
          </div>
        )}
      </dl>
      <div className="card" style={{ padding: 12 }}>
        <div
          className="disk-bar"
          role="img"
          aria-label={slices.map(({ label, bytes }) => `${label} ${formatBytes(bytes)}`).join(", ")}
        >
          {slices.map(({ key, share }) => share > 0 && <div key={key} data-slice={key} style={{ width: percent(share) }} />)}
        </div>
        <ul className="disk-legend">
          {slices.map(({ key, label, bytes }) => (
            <li key={key}>
              <span className="disk-swatch" data-slice={key} aria-hidden />
              {label} <b>{formatBytes(bytes)}</b>
            </li>
          ))}
        </ul>
        <p className="disk-note">{describePacking(storage)}</p>
      </div>
    </section>
  );
}
