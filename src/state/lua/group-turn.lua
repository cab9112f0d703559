--[[ group-turn: decides which of these events may run now. The run that gets "go" holds the ordering group until it leaves.
  Atomic because: between finding an event at the head and naming its holder, another run of the event could do the same.
  Of two runs of a job the one that started later counts: a holder ends in the number of the start, and a lower one is too late.
  A backfilled event has its position from entering until it leaves; a retried one brings its position along.
  KEYS 1 groups · 2 pending · 3 entered · 4 holders · 5 positions
  ARGV 1 n · n × (workspace, group or "", position, job id, holder, origin of the position: "log" | "retried" | "backfill")
  RETURN n × ("go" | "wait" | "left" | "taken-over", job id of the head of the group or "")
  Cost O(n log pending). Never calls TIME. ]]
local SEP = '\31'
local AFTER_SEP = '\32'
local POSITION_WIDTH = 35
local n = tonumber(ARGV[1])
local answer = {}

local function headOf(group)
  if group == '' then return nil end
  return redis.call('ZRANGEBYLEX', KEYS[1], '[' .. group .. SEP, '(' .. group .. AFTER_SEP, 'LIMIT', 0, 1)[1]
end

local function add(workspace, group, position, id)
  redis.call('ZADD', KEYS[2], 0, workspace .. SEP .. position)
  if group ~= '' then redis.call('ZADD', KEYS[1], 0, group .. SEP .. position .. SEP .. id) end
end

local function startOf(holder)
  return tonumber(string.match(holder or '', '/(%d+)$') or 0)
end

for i = 0, n - 1 do
  local at = 6 * i + 2
  local workspace, group, position, id, holder = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local origin = ARGV[at + 5]
  local left = false
  if origin == 'retried' then
    left = not redis.call('ZSCORE', KEYS[2], workspace .. SEP .. position)
  elseif origin == 'backfill' then
    local given = redis.call('HGET', KEYS[5], id)
    left = not given
    position = given or position
  elseif not redis.call('ZSCORE', KEYS[2], workspace .. SEP .. position) then
    left = position <= (redis.call('HGET', KEYS[3], workspace) or '')
    -- Never entered: the groups were lost, the queue was not. Running twice is better than not at all.
    if not left then add(workspace, group, position, id) end
  end

  local head = headOf(group)
  local headId = head and string.sub(head, #group + POSITION_WIDTH + 3) or ''
  if left then
    answer[2 * i + 1] = 'left'
  elseif group == '' then
    answer[2 * i + 1] = 'go'
  elseif head == group .. SEP .. position .. SEP .. id then
    local late = startOf(redis.call('HGET', KEYS[4], group)) > startOf(holder)
    answer[2 * i + 1] = late and 'taken-over' or 'go'
    if not late then redis.call('HSET', KEYS[4], group, holder) end
  else
    answer[2 * i + 1] = 'wait'
  end
  answer[2 * i + 2] = headId
end
return answer
