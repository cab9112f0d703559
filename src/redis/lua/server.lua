-- The run id of this server: another one after a restart, a failover, and a restored backup.
local function serverId()
  return string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or ''
end
-- Whether the state belongs to another server. Nothing is written until an epoch has begun on this one.
local function isElsewhere(state)
  local stored = redis.call('GET', state)
  return stored and not string.find(stored, '"server":"' .. serverId() .. '"', 1, true)
end
-- The first sequence of the epoch, as text.
local function firstSequence(state)
  local epoch = string.match(redis.call('GET', state) or '', '"epoch":(%d+)') or 0
  return string.format('%d', tonumber(epoch) * 1048576)
end
