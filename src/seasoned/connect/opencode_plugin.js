// Lets OpenCode begin warm, get hints and ask a person. `seasoned connect opencode --undo` removes this file.
import { spawn, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"

const { command, parts, server, reading, waitSeconds, guard } = SETTINGS

export const Seasoned = async ({ directory }) => {
  const begins = new Map() // the sessions that are about to begin, and why
  const children = new Set() // the sessions of sub-agents
  const errors = new Map() // what stands behind the error of a call, by its id
  let number = 0

  const settings = { cwd: directory, env: { ...process.env, CLAUDE_PROJECT_DIR: directory } }
  const written = (id, fields) => JSON.stringify({ session_id: id, cwd: directory, ...fields })

  // What the hook says, or undefined where it could not be run or failed.
  const ask = (event, id, fields, { options = [], seconds = 10 } = {}) =>
    new Promise((resolve) => {
      const [program, ...words] = command
      const hook = spawn(program, [...words, event, ...options], { ...settings, stdio: ["pipe", "pipe", "ignore"] })
      const late = setTimeout(() => hook.kill(), seconds * 1000)
      let text = ""
      hook.stdout.on("data", (data) => (text += data))
      hook.stdin.on("error", () => {})
      hook.on("error", () => resolve(undefined))
      hook.on("close", (code) => {
        clearTimeout(late)
        try {
          resolve(code === 0 ? (text ? JSON.parse(text).hookSpecificOutput ?? {} : {}) : undefined)
        } catch {
          resolve(undefined)
        }
      })
      hook.stdin.end(written(id, fields))
    })

  return {
    config: async (config) => {
      if (server && !config.mcp?.seasoned) config.mcp = { ...config.mcp, seasoned: server }
    },
    event: async ({ event }) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id
      if (event.type === "session.created") {
        if (event.properties.info?.parentID) children.add(id)
        else begins.set(id, "startup")
      }
      if (event.type === "session.compacted") begins.set(id, "compact")
      // The last message of a turn too: `opencode run` may be gone before it says that the session is idle.
      const info = event.type === "message.updated" ? event.properties.info : undefined
      const isLast = info?.role === "assistant" && info.time?.completed && info.finish !== "tool-calls"
      if ((event.type === "session.idle" || isLast) && parts.learns && !children.has(id)) {
        const [program, ...words] = command
        // Not in the background, for the same reason.
        const options = parts.reviews ? [] : ["--no-reviews"]
        spawnSync(program, [...words, "stop", ...options], { ...settings, input: written(id, {}), timeout: 5000 })
      }
    },
    "chat.message": async ({ sessionID: id }, { message, parts: said }) => {
      if (!parts.warm || children.has(id)) return
      const prompt = said.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
      const source = begins.get(id)
      begins.delete(id)
      const answers = [source && (await ask("session-start", id, { source }))]
      answers.push(await ask("user-prompt-submit", id, { prompt: prompt.join("\n") }))
      for (const text of answers.map((answer) => answer?.additionalContext).filter(Boolean)) {
        const own = { id: `prt_seasoned${Date.now()}${number++}`, sessionID: id, messageID: message.id }
        said.push({ ...own, type: "text", text, synthetic: true })
      }
    },
    "tool.execute.before": async ({ tool, sessionID: id }, { args }) => {
      if (!parts.confirmations || reading.includes(tool)) return
      const options = ["--wait-seconds", String(waitSeconds), "--no-hints"]
      const call = { tool_name: tool, tool_input: args }
      const answer = await ask("pre-tool-use", id, call, { options, seconds: waitSeconds + 30 })
      if (answer === undefined && existsSync(guard))
        throw new Error(`Seasoned could not check this call, so it did not run. To let calls run: rm ${guard}`)
      if (answer?.permissionDecision === "deny") throw new Error(answer.permissionDecisionReason)
    },
    "tool.execute.after": async ({ tool, sessionID: id, args }, result) => {
      if (!parts.hints || reading.includes(tool) || typeof result?.output !== "string" || !result.output.trim()) return
      const call = { tool_name: tool, tool_input: args ?? {}, tool_response: result.output }
      const answer = await ask("post-tool-use", id, { ...call, exit_code: result.metadata?.exit ?? null })
      if (answer?.additionalContext) result.output += `\n\n${answer.additionalContext}`
    },
    // A tool that fails by itself runs no hook, so what was not answered yet is looked up before the next request.
    "experimental.chat.messages.transform": async (_, { messages }) => {
      if (!parts.hints) return
      const last = messages.findLastIndex(({ info }) => info.role === "assistant")
      for (const [at, { info, parts: said }] of messages.entries())
        for (const { tool, callID, state } of said.filter((part) => part.type === "tool")) {
          if (state?.status !== "error" || typeof state.error !== "string") continue
          if (at === last && !errors.has(callID)) {
            const call = { tool_name: tool, tool_input: state.input ?? {}, error: state.error }
            errors.set(callID, (await ask("post-tool-use-failure", info.sessionID, call))?.additionalContext)
          }
          // The same text in every request of this process, and never twice.
          const hint = errors.get(callID)
          if (hint && !state.error.includes(hint)) state.error += `\n\n${hint}`
        }
    },
  }
}
