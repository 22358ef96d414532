/** What packed bytes say of the tables in them: written by `paddle_lab/trace/pack.py`. */

/** The header inside the packed bytes. */
export interface PackHeader {
  strings: string[];
  origin: Origin;
  tables: Record<string, { rows: number; columns: Record<string, PackedColumn> }>;
}

export interface PackedColumn {
  dtype: "i1" | "i2" | "i4" | "i8";
  delta: boolean;
}

/** Where the record comes from: text for people. */
export interface Origin {
  title: string;
  created: string;
  paddle: string;
  python: string;
  paddle_lab: string;
  device: string;
  duration_ns: number;
  exception: string;
  /** The user's line that it was raised from; 0 for none. */
  stopped_line: number;
  stopped_file: string;
  /** Execution count of the notebook cell, -1 for a file. */
  stopped_cell: number;
  notices: string[];
  /** What the views speak: "en" or "zh". */
  language: string;
}
