/** The headings that messages name, with their pages in `docs/`. A test holds that each exists and is published. */
export const HEADINGS = {
  "A URL that is taken": "operations",
  "You renamed a resource": "operations",
  "The answer to a create was lost": "operations",
  "A key was rotated": "operations",
  "An endpoint is not found": "operations",
  "Two resources share an endpoint": "operations",
  "A run was killed": "operations",
  "Adopt members of a pool": "adoption",
  "Adopt without an edit of the program": "adoption",
  "Unmanaged endpoints": "drift",
  "Pending creates": "drift",
  "A change that the service ignores": "troubleshooting",
  "Both in one program": "comparison",
} as const;

/** The last sentence of a message: where the page has the rest. */
export const see = (heading: keyof typeof HEADINGS): string =>
  `See "${heading}" in docs/${HEADINGS[heading]}.md of pulumi-endpoints.`;
