/** Numbers of one kind: all float32, or all float64. A plain array counts as the kind of `center`. */
export type Numbers = Float32Array | Float64Array | number[];

export interface DomainInput {
  origin?: ArrayLike<number>;
  /** The sides of a rectangular cell. */
  lengths?: ArrayLike<number>;
  /** The three edges of any cell, nine numbers. */
  edges?: ArrayLike<number>;
  /** Along which edges the world repeats: all, if left out. */
  periodic?: [boolean, boolean, boolean];
}

export interface MeshInput {
  vertices: Numbers;
  triangles: Uint32Array | number[];
}

/** A wall has one of the five shapes. */
export interface WallInput {
  halfSpace?: { normal: ArrayLike<number>; offset: number };
  sphere?: { center: ArrayLike<number>; radius: number; inside?: boolean };
  cylinder?: { point: ArrayLike<number>; axis: ArrayLike<number>; radius: number; inside?: boolean };
  /** Six walls around what is inside. */
  box?: { low: ArrayLike<number>; high: ArrayLike<number> };
  mesh?: MeshInput;
  velocity?: ArrayLike<number>;
  restitution?: number;
}

export interface SpheresInput {
  /** Three numbers for each sphere. */
  center: Numbers;
  /** One for all, or one for each sphere. */
  radius: Numbers | number;
  /** Three numbers for each sphere; at rest if left out. */
  velocity?: Numbers;
  /** Collision groups: what a sphere is a member of in the low 16 bits, what it ignores in the high ones. */
  groups?: Uint32Array;
}

export interface StepInput extends SpheresInput {
  /** Duration of the step, 0 if left out. */
  dt?: number;
  domain?: DomainInput | null;
  walls?: WallInput[];
  /** A second set: pairs have one sphere of each. */
  other?: SpheresInput;
  /** Leaves out what touches at the start and does not approach. */
  approaching?: boolean;
}

export interface Hits {
  count: number;
  /** Time of impact, 0 for what touches at the start. */
  toi: Float32Array | Float64Array;
  /** How far the two overlap at the start. */
  depth: Float32Array | Float64Array;
  /** Three numbers for each entry, or null if all are 0. */
  images: Int32Array | null;
}

export interface Collisions {
  pairs: Hits & { a: Uint32Array; b: Uint32Array };
  walls: Hits & { sphere: Uint32Array; wall: Uint32Array };
  statistics: {
    backend: "cpu" | "gpu";
    reason: string;
    candidates: number;
    grazing: number;
    memory: number;
    seconds: number;
  };
}

export interface DetectorOptions {
  device?: "auto" | "gpu" | "cpu";
  maxPairs?: number;
  maxCandidates?: number;
}

export interface NeighborInput {
  center: Numbers;
  /** Without a cutoff, neighbours are spheres that touch. */
  radius?: Numbers | number;
  groups?: Uint32Array;
  cutoff?: number;
  /** By how much the list reaches farther, so that it stays valid for a while. */
  skin?: number;
  /** Has each pair twice. */
  full?: boolean;
  domain?: DomainInput | null;
}

export interface SimulationInput extends SpheresInput {
  /** 1 if left out; Infinity for a sphere that nothing moves. */
  mass?: Numbers | number;
  domain?: DomainInput | null;
  walls?: WallInput[];
  /** 1 conserves energy, 0 removes the speed of approach. */
  restitution?: number;
  wallRestitution?: number;
  gravity?: ArrayLike<number>;
  /** Impacts of a pair that are closer in time than this are contacts. Needed for spheres that come to rest. */
  contactTime?: number;
  /** Whether reports list the impacts. */
  impacts?: boolean;
  /** A step with more impacts ends early. */
  maxStepImpacts?: number;
}

export interface StepReport {
  completed: boolean;
  time: number;
  sphereImpacts: number;
  wallImpacts: number;
  kineticEnergy: number;
  virial: number;
  impactSphere: Uint32Array;
  /** A sphere, or −1 − the number of a wall. */
  impactPartner: Float64Array;
  impactTime: Float64Array;
}

export interface GpuSimulationInput extends SimulationInput {
  /** A `GPUDevice` of the page, from which it takes nothing away. */
  device?: any;
  /** Most substeps of a step; what a step does not reach, the next ones do. */
  substeps?: number;
}

export interface GpuState {
  time: number;
  /** Time that was asked for and is not simulated yet. */
  remaining: number;
  sphereImpacts: number;
  wallImpacts: number;
}

export interface ReadInput {
  /** Number of the frame, from 0, or negative to count from the end; the last one if left out. */
  frame?: number;
  /** For files without radii. */
  radius?: number;
  /** Ignores the box of the file. */
  open?: boolean;
  ids?: boolean;
}

export interface World {
  source: string;
  center: Float32Array | Float64Array;
  radius: Float32Array | Float64Array;
  velocity: Float32Array | Float64Array;
  ids: Float64Array | null;
  domain: DomainInput | null;
  frame: number | null;
  timestep: number | null;
  /** How the file was understood. */
  notes: string[];
}

/** What every function throws. */
export interface CaromError extends Error {
  name: "CaromError";
  kind: "input" | "limit" | "device" | "misuse";
}
