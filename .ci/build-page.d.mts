export function buildPage(): Promise<void>;
