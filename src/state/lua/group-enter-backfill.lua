--[[ group-enter-backfill: enters events of a backfill (replay or snapshot) at the end of their ordering groups, in the order
  given, once. Their positions follow all positions entered so far. An event at or before the mark of the backfill was entered
  before.
  Atomic because: two backfills at once must not interleave the events of one record, and a repeated batch must change nothing.
  KEYS 1 groups · 2 pending · 3 entered · 4 positions · 5 mark of the backfill
  ARGV 1 TTL of the mark, ms · 2 n · n × (workspace, group or "", position, job id, mark), marks ascending
  RETURN n × ("head" | "behind" | "left"), then n × ("fresh" | "known")    Cost O(n log pending). Never calls TIME. ]]
local SEP = '\31'
local AFTER_SEP = '\32'
local POSITION_WIDTH = 35
local n = tonumber(ARGV[2])
local furthestMark = redis.call('GET', KEYS[5]) or ''
local answer = {}

local function give(workspace, group, position, id)
  local furthest = redis.call('HGET', KEYS[3], workspace) or position
  local count = redis.call('HINCRBY', KEYS[4], '', 1)
  local given = string.sub(furthest, 1, POSITION_WIDTH - 8) .. string.format('%08d', count % 100000000)
  redis.call('HSET', KEYS[4], id, given)
  redis.call('ZADD', KEYS[2], 0, workspace .. SEP .. given)
  if group ~= '' then redis.call('ZADD', KEYS[1], 0, group .. SEP .. given .. SEP .. id) end
  return given
end

for i = 1, n do
  local at = 5 * i - 2
  local workspace, group, position, id, mark = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local fresh = mark > furthestMark
  if fresh then furthestMark = mark end
  local given = redis.call('HGET', KEYS[4], id)
  if fresh and not given then given = give(workspace, group, position, id) end
  if not given then
    answer[i] = 'left'
  elseif group == '' then
    answer[i] = 'head'
  else
    local head = redis.call('ZRANGEBYLEX', KEYS[1], '[' .. group .. SEP, '(' .. group .. AFTER_SEP, 'LIMIT', 0, 1)[1]
    answer[i] = head == group .. SEP .. given .. SEP .. id and 'head' or 'behind'
  end
  answer[n + i] = fresh and 'fresh' or 'known'
end

if n > 0 then redis.call('SET', KEYS[5], furthestMark, 'PX', ARGV[1]) end
return answer
