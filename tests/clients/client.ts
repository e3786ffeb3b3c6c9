// A client of the API as somebody writes it against the generated types: an answer that is not as described does not compile.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

declare const process: { argv: string[] };
const [baseUrl, key] = process.argv.slice(2);
const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
const ring: components["schemas"]["Submission"] = { source_type: "tests.sample.tasks", source_method: "ring" };

function must<T>(answer: { data?: T; error?: components["schemas"]["Problem"] }): T {
  if (answer.data === undefined) throw new Error(answer.error?.code);
  return answer.data;
}

const later = must(await api.POST("/api/v1/jobs", { body: { ...ring, delay: 3600, dedup: false } }));
const why = must(await api.GET("/api/v1/jobs/{job_id}/reason", { params: { path: { job_id: later.id } } }));

let job: components["schemas"]["Job"] = must(await api.POST("/api/v1/jobs", { body: ring }));
const params = { path: { job_id: job.id } };
while (job.end_time === null) {
  job = must(await api.GET("/api/v1/jobs/{job_id}", { params: { ...params, query: { wait: 10, seen: job.status } } }));
}
const result: unknown = must(await api.GET("/api/v1/jobs/{job_id}/result", { params }));

const { error } = await api.POST("/api/v1/jobs", { body: { ...ring, priority: 11 } });
const code: components["schemas"]["ProblemCode"] | undefined = error?.code;
console.log(JSON.stringify([why.gate, job.status, result, code, error?.errors[0]?.field]));
